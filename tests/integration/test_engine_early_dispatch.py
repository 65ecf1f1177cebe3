"""Tools that start while the reply is still being streamed, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.engine import Script, ScriptedReply
from antiphon.engine.offline.script import Break, ScriptedCall
from antiphon.vocabulary.events import (
    CallsAbandoned,
    ReasoningCompleted,
    ReasoningRetried,
    ToolCallsConfirmed,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolStarted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import QuerySettings
from tests import virtual_time
from tests.doubled_query import Query, ask
from tests.fakes_messages_api import block_started

CALL = ScriptedCall(name="look_up", input={"words": "logs"})
ANSWER = ScriptedReply(text="Logs grow.")


async def look_up(words: str) -> str:
    """Looks words up.

    Args:
        words: What to look up.
    """
    await asyncio.sleep(1.0)
    return f"{words} grow"


def query(*replies: ScriptedReply, **settings: object) -> Query:
    script = Script(replies=(*replies, ANSWER))
    return virtual_time.run(ask(script, look_up, settings=QuerySettings(**settings)))  # type: ignore[arg-type]


@pytest.mark.parametrize(("early", "settled_s"), [(True, 1.3), (False, 2.3)])
def test_a_tool_starts_when_its_block_is_complete_and_not_when_the_reply_is(
    early: bool, settled_s: float
) -> None:
    asked = query(
        ScriptedReply(calls=(CALL,), first_byte_s=0.3, end_s=1.0), early_dispatch=early
    )

    assert asked.at(ToolStarted) == pytest.approx(0.3 if early else 1.3)
    assert asked.at(ReasoningCompleted) == pytest.approx(1.3)
    assert asked.at(ToolsSettled) == pytest.approx(settled_s)
    assert asked.outcome.response.answer == "Logs grow."


@pytest.mark.parametrize("second_id", [None, "the_same"])
def test_a_call_started_by_an_attempt_that_failed_answers_the_same_call_of_the_next(
    second_id: str | None,
) -> None:
    first = ScriptedCall(
        name="look_up", input={"words": "logs", "why": "to see"}, id="the_same"
    )
    again = ScriptedCall(name="look_up", input={"words": "logs"}, id=second_id)
    asked = query(
        ScriptedReply(calls=(first,), breaks=Break(at="message_stop", how="reset")),
        ScriptedReply(calls=(again,)),
    )

    assert len(asked.of(ReasoningRetried)) == 1
    assert len(asked.of(ToolRequested)) == len(asked.of(ToolSucceeded)) == 1
    assert asked.of(ToolCallsConfirmed) == [
        ToolCallsConfirmed(round=1, tool_call_ids=("the_same",))
    ]
    assert asked.of(CallsAbandoned) == []
    assert asked.outcome.status == "answered"
    assert asked.outcome.response.calls == 2


def test_a_call_that_the_next_attempt_does_not_ask_for_is_given_up_and_the_trace_says_so() -> (
    None
):
    other = ScriptedCall(name="look_up", input={"words": "queues"})
    asked = query(
        ScriptedReply(calls=(CALL,), breaks=Break(at="message_stop", how="end")),
        ScriptedReply(calls=(other,)),
    )

    (given_up,) = asked.of(CallsAbandoned)
    assert isinstance(given_up, CallsAbandoned)
    assert given_up.call_ids == ("toolu_0001_0",)
    assert [
        event.failure for event in asked.of(ToolFailed) if isinstance(event, ToolFailed)
    ] == ["abandoned"]
    assert asked.of(ToolCallsConfirmed) == [
        ToolCallsConfirmed(round=1, tool_call_ids=("toolu_0002_0",))
    ]
    assert asked.outcome.response.answer == "Logs grow."


def test_calls_started_for_a_reply_that_is_then_refused_are_given_up() -> None:
    asked = query(ScriptedReply(calls=(CALL,), stop_reason="refusal", end_s=0.2))

    assert len(asked.of(CallsAbandoned)) == 1
    assert asked.of(ToolSucceeded) == []
    assert "refused" in {doubt.kind for doubt in asked.outcome.response.indicators}


def test_a_call_whose_input_was_cut_off_is_never_started() -> None:
    cut = ScriptedReply(
        events=[
            {"type": "message_start", "message": {"id": "m", "model": "m", "usage": {"input_tokens": 1}}},
            block_started(0, type="tool_use", id="t", name="look_up"),
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"wor'}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
    )  # fmt: skip
    asked = query(cut)

    assert asked.of(ToolStarted) == []
    assert [
        event.failure for event in asked.of(ToolFailed) if isinstance(event, ToolFailed)
    ] == ["invalid_arguments"]
    assert asked.outcome.response.answer == "Logs grow."
