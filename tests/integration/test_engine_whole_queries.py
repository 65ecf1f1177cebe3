"""Whole queries against the double, in virtual time: what is sent, and what each stop reason leads to."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from antiphon.engine import Profile, Script, ScriptedReply, request_bytes
from antiphon.engine.offline.script import ScriptedCall
from antiphon.vocabulary.events import (
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningStarted,
    RecoveryStarted,
    RoundOpened,
    ToolSucceeded,
)
from antiphon.vocabulary.values import QuerySettings, Request
from tests import virtual_time
from tests.doubled_query import Query, ask

LONG = " ".join(f"Sentence {n} about logs and how they grow." for n in range(120))


async def look_up(words: str) -> str:
    """Looks words up.

    Args:
        words: What to look up.
    """
    # A briefing would hold results that said nearly the same only once.
    return f"{words}: {LONG if words == 'a' else LONG.replace('Sentence', f'Sentence {words}')}"


def calls(*words: str) -> ScriptedReply:
    return ScriptedReply(
        calls=tuple(
            ScriptedCall(name="look_up", input={"words": word}) for word in words
        )
    )


ANSWER = ScriptedReply(text="Logs grow.")


def query(
    *replies: ScriptedReply,
    profile: Profile | None = None,
    question: str = "Logs?",
    **settings: Any,
) -> Query:
    script = Script(replies=replies)
    return virtual_time.run(
        ask(
            script,
            look_up,
            settings=QuerySettings(**settings),
            profile=profile,
            question=question,
        )
    )


def sent(asked: Query) -> list[Request]:
    return [
        event.request
        for event in asked.of(ReasoningStarted)
        if isinstance(event, ReasoningStarted)
    ]


def kinds(asked: Query) -> set[str]:
    return {doubt.kind for doubt in asked.outcome.response.indicators}


def three_rounds(**settings: Any) -> Query:
    return query(
        calls("a"),
        calls("b"),
        calls("c"),
        ANSWER,
        max_rounds=3,
        briefing_tokens=60_000,
        **settings,
    )


def caching(asked: Query) -> list[str]:
    """What was decided about the cache for each request."""
    return [
        event.caching
        for event in asked.of(ReasoningStarted)
        if isinstance(event, ReasoningStarted)
    ]


def marks(asked: Query) -> list[list[str]]:
    """For each request, the kinds of the blocks of its messages that are marked."""
    rows = []
    for request in sent(asked):
        row = []
        for message in request.messages:
            blocks = [json.loads(block.text) for block in message.content]
            row += [block["type"] for block in blocks if "cache_control" in block]
        rows.append(row)
    return rows


@pytest.mark.parametrize("context", ["briefing", "transcript"])
def test_all_requests_of_a_query_share_tools_and_system_prompt_up_to_a_mark_at_the_end(
    context: str,
) -> None:
    requests = sent(three_rounds(context=context))

    assert len(requests) == 4
    assert len({request.tools for request in requests}) == 1
    assert len({request.system for request in requests}) == 1
    *_, last = json.loads(requests[0].system.text)
    assert last["cache_control"] == {"type": "ephemeral"}


def test_a_briefing_is_never_marked_because_the_next_one_begins_differently() -> None:
    asked = three_rounds()

    assert marks(asked) == [[], [], [], []]
    assert caching(asked) == ["tools and system prompt cached"] * 4


def test_successive_requests_of_a_transcript_share_their_messages_byte_for_byte() -> (
    None
):
    requests = sent(three_rounds(context="transcript"))

    for earlier, later in pairwise(requests):
        assert later.messages[: len(earlier.messages)] == earlier.messages


def test_a_transcript_is_marked_only_if_a_call_with_the_same_tool_choice_can_read_it() -> (
    None
):
    asked = three_rounds(context="transcript")

    # The mark of the second request stays, because the third one reads up to it.
    assert marks(asked) == [[], *[["tool_result"]] * 3]
    written = "tools and system prompt cached"
    unread = "messages not cached: no call with the same tool choice follows"
    assert caching(asked) == [
        written,
        f"{written}; messages cached for the next round",
        f"{written}; {unread}",
        f"{written}; {unread}",
    ]


def test_twenty_queries_send_the_same_bytes_of_system_and_tools() -> None:
    requests = [
        request
        for number in range(20)
        for request in sent(
            query(calls("a"), ANSWER, question=f"What is log {number}?")
        )
    ]

    assert len(requests) == 40
    assert len({request.system.text.encode() for request in requests}) == 1
    assert (
        len({request.tools.text.encode() for request in requests if request.tools}) == 1
    )


def test_a_paused_reply_is_continued_within_the_same_call() -> None:
    paused = ScriptedReply(
        text="Logs ",
        stop_reason="pause_turn",
        usage={"input_tokens": 7, "output_tokens": 2},
    )
    asked = query(
        paused,
        ScriptedReply(text="grow.", usage={"input_tokens": 9, "output_tokens": 2}),
    )

    (reply,) = asked.of(ReasoningCompleted)
    assert isinstance(reply, ReasoningCompleted)
    assert (reply.text.text, reply.stop_reason) == ("Logs grow.", "end_turn")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (16, 4)
    assert [
        event.part
        for event in asked.of(ReasoningStarted)
        if isinstance(event, ReasoningStarted)
    ] == [1, 2]
    assert asked.double.requests[1]["messages"][-1] == {
        "role": "assistant",
        "content": [{"type": "text", "text": "Logs "}],
    }
    assert asked.outcome.response.answer == "Logs grow."


def test_a_paused_reply_that_cannot_be_continued_is_the_answer_and_says_that_it_breaks_off() -> (
    None
):
    over = ScriptedReply(status=400, error="invalid_request_error")
    asked = query(ScriptedReply(text="Logs grow.", stop_reason="pause_turn"), over)

    assert asked.outcome.response.answer == "Logs grow."
    assert "truncated" in kinds(asked)


@pytest.mark.parametrize(
    "full",
    [
        ScriptedReply(text="Lo", stop_reason="model_context_window_exceeded"),
        ScriptedReply(
            status=400,
            error="invalid_request_error",
            message="prompt is too long: 210000 tokens > 200000",
        ),
        ScriptedReply(status=413, error="request_too_large"),
    ],
)
@pytest.mark.parametrize("context", ["briefing", "transcript"])
def test_a_full_context_window_leads_to_a_smaller_briefing(
    full: ScriptedReply, context: Any
) -> None:
    asked = query(calls("a", "b"), full, ANSWER, context=context)

    assert [
        event.failure
        for event in asked.of(ReasoningFailed)
        if isinstance(event, ReasoningFailed)
    ] == ["context_window"]
    assert [
        event.level
        for event in asked.of(RecoveryStarted)
        if isinstance(event, RecoveryStarted)
    ] == ["round"]
    budgets = [
        event.briefing_tokens
        for event in asked.of(RoundOpened)
        if isinstance(event, RoundOpened)
    ]
    assert budgets[:2] == [None, None]
    assert budgets[-1] is not None
    sizes = [len(request_bytes(request)) for request in sent(asked)]
    assert sizes[2] < sizes[1]
    assert asked.outcome.response.answer == "Logs grow."
    assert asked.outcome.response.calls == 2


@pytest.mark.parametrize(
    "reason", ["end_turn", "stop_sequence", "a_reason_of_2031", "max_tokens"]
)
def test_every_other_stop_reason_is_an_end(reason: str) -> None:
    asked = query(calls("a"), ScriptedReply(text="Logs grow.", stop_reason=reason))

    assert asked.outcome.response.answer == "Logs grow."
    assert ("truncated" in kinds(asked)) == (reason == "max_tokens")


def test_a_refusal_is_answered_as_such() -> None:
    asked = query(ScriptedReply(content=[], stop_reason="refusal"))

    assert asked.outcome.status == "answered"
    assert "refused" in kinds(asked)
    assert "declined" in asked.outcome.response.answer


def test_native_and_inline_citations_end_as_the_same_citations() -> None:
    citation = {
        "type": "search_result_location", "search_result_index": 0, "start_block_index": 1, "end_block_index": 2,
        "cited_text": "Sentence 1 about logs and how they grow. ", "source": "s", "title": "t",
    }  # fmt: skip
    native = query(
        calls("a"),
        ScriptedReply(
            content=[{"type": "text", "text": "They grow", "citations": [citation]}]
        ),
    )
    inline = query(
        calls("a"),
        ScriptedReply(text="They grow [1.2]"),
        profile=Profile(citations="inline"),
    )

    assert (
        native.outcome.response.answer == inline.outcome.response.answer == "They grow"
    )
    assert native.outcome.response.citations == inline.outcome.response.citations != ()
    assert '"search_result"' not in request_bytes(sent(inline)[1]).decode()
    assert [
        e.citations
        for e in inline.of(ReasoningStarted)
        if isinstance(e, ReasoningStarted)
    ] == ["inline"] * 2


@pytest.mark.parametrize(
    ("probed", "style"),
    [("It is heliotrope.", "native"), ("I cannot see any.", "inline")],
)
def test_the_engine_asks_a_server_once_what_it_can_do(probed: str, style: str) -> None:
    citation = {
        "type": "search_result_location", "search_result_index": 0, "start_block_index": 0, "end_block_index": 1,
        "cited_text": "The word of the day is heliotrope.", "source": "Probe", "title": "Probe",
    }  # fmt: skip
    told = ScriptedReply(
        content=[{"type": "text", "text": probed, "citations": [citation]}]
    )
    asked = query(told, calls("a"), ANSWER, profile=Profile(citations="auto"))

    assert len(asked.double.requests) == 3
    assert [
        e.citations
        for e in asked.of(ReasoningStarted)
        if isinstance(e, ReasoningStarted)
    ] == [style] * 2


def test_the_engine_sends_a_server_nothing_that_it_lacks() -> None:
    profile = Profile(caching=False, thinking=False, tool_choice_none=False)
    asked = query(
        calls("a"),
        ANSWER,
        profile=profile,
        context="transcript",
        max_rounds=1,
        effort="low",
        thinking="off",
    )

    bodies = [request_bytes(request).decode() for request in sent(asked)]
    assert not any(
        word in body
        for body in bodies
        for word in ("cache_control", "thinking", "effort", '"none"')
    )
    assert "tools" in asked.double.requests[1]


@pytest.mark.parametrize(
    ("model", "thinking"),
    [
        ("claude-opus-4-6", {"type": "enabled", "budget_tokens": 2000}),
        # It takes no budget: the number is only the room that it has.
        ("claude-haiku-5-5", {"type": "adaptive", "display": "summarized"}),
    ],
)
def test_model_effort_and_thinking_are_passed_on_as_the_model_takes_them(
    model: str, thinking: dict[str, object]
) -> None:
    asked = query(
        calls("a"), ANSWER, max_rounds=1, model=model, final_model="claude-sonnet-5-5", effort="low", thinking="2000"
    )  # fmt: skip

    first, second = asked.double.requests
    assert (first["model"], second["model"]) == (model, "claude-sonnet-5-5")
    assert first["output_config"] == second["output_config"] == {"effort": "low"}
    assert first["thinking"] == thinking
    assert second["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert first["max_tokens"] == second["max_tokens"] == 1500 + 2000
    started = asked.of(ReasoningStarted)[0]
    assert isinstance(started, ReasoningStarted)
    assert started.repairs == ()


def test_the_usage_of_a_query_holds_what_it_costs() -> None:
    usage = {
        "input_tokens": 1000,
        "output_tokens": 100,
        "cache_read_input_tokens": 3000,
    }
    asked = query(
        ScriptedReply(text="Logs grow.", usage=usage, model="claude-sonnet-5-5")
    )

    spent = asked.outcome.response.usage
    assert spent.cost_usd == pytest.approx((1000 * 2 + 100 * 10 + 3000 * 0.1) / 1e6)
    assert spent.cached_share == 0.75


def test_the_transcript_keeps_tools_and_forbids_them_at_the_end() -> None:
    asked = query(calls("a"), calls("b"), ANSWER, context="transcript")

    last = asked.double.requests[-1]
    assert last["tool_choice"] == {"type": "none"}
    assert [message["role"] for message in last["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert last["messages"][:3] == asked.double.requests[1]["messages"]
    assert len(asked.of(ToolSucceeded)) == 2
    assert len(asked.of(ReasoningRequested)) == asked.outcome.response.calls == 3
