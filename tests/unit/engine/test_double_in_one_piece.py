"""A scripted reply that is asked for in one piece keeps its content, its time and its break."""

from __future__ import annotations

import msgspec

from antiphon.engine.offline.playing import acts_of, content_type_of
from antiphon.engine.offline.script import Break, ScriptedReply

WHOLE = {"model": "m", "stream": False}


def test_a_whole_reply_takes_as_long_as_its_stream_would() -> None:
    reply = ScriptedReply(text="x" * 100, delta_chars=50, between_s=2.0, end_s=3.0)

    acts = list(acts_of(reply, WHOLE, 1))

    assert sum(act.wait_s for act in acts) == 7.0
    message = msgspec.json.decode(b"".join(act.send for act in acts))
    assert message["content"] == [{"type": "text", "text": "x" * 100}]


def test_a_break_breaks_a_whole_reply_in_the_middle() -> None:
    reply = ScriptedReply(text="x" * 100, breaks=Break(at="text", how="reset"))

    acts = list(acts_of(reply, WHOLE, 1))

    assert acts[-1].how == "reset"
    assert b"".join(act.send for act in acts).startswith(b'{"id":"msg_0001"')
    assert not b"".join(act.send for act in acts).endswith(b"}")


def test_scripted_events_are_sent_as_they_are_whatever_was_asked_for() -> None:
    reply = ScriptedReply(events=[{"type": "message_stop"}])

    acts = list(acts_of(reply, WHOLE, 1))

    assert b"event: message_stop" in acts[0].send
    assert content_type_of(reply, WHOLE).startswith("text/event-stream")
