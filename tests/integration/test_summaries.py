"""Whole queries with `compression="model"`, against the double, in virtual time: summaries and their failures."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from antiphon.engine import SUMMARY_PROMPT, SYSTEM_VERSION, Script, ScriptedReply
from antiphon.engine.offline.script import Break, ScriptedCall, When
from antiphon.faults.checks.traces import refusals
from antiphon.history.replaying import replay
from antiphon.vocabulary.events import (
    BriefingPrepared,
    QueryReceived,
    ReasoningCompleted,
    ReasoningStarted,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    SummarySkipped,
    ToolCallStreamed,
)
from antiphon.vocabulary.values import QuerySettings, Request
from tests import virtual_time
from tests.doubled_query import Query, ask

FILLING = " ".join(
    f"Clerk {n} of the old harbour counted the grain of ship {n}." for n in range(40)
)
FOR_A_SUMMARY = When(contains="<material>")
QUERY = "How does BM25 rank?"


async def look_up(words: str) -> str:
    """Looks words up.

    Args:
        words: What to look up.
    """
    return (
        f"BM25 ranks by rare {words}. {FILLING}"
        if words == "words"
        else f"BM25 ranks short {words} higher."
    )


def calls(word: str) -> ScriptedReply:
    return ScriptedReply(calls=(ScriptedCall(name="look_up", input={"words": word}),))


def summary(text: str = "Clerks counted grain.", **more: Any) -> ScriptedReply:
    usage = {"input_tokens": 1_000, "output_tokens": 100}
    return ScriptedReply(
        text=text, when=FOR_A_SUMMARY, usage=usage, model="claude-haiku-5-5", **more
    )


ROUNDS = (calls("words"), calls("texts"), ScriptedReply(text="By rare words."))


def query(*summaries: ScriptedReply, then: str = "last", **settings: Any) -> Query:
    wishes = QuerySettings(compression="model", **settings)
    left = ROUNDS[: 3 if then == "last" else 2]
    rounds = tuple(
        msgspec.structs.replace(reply, when=When(tools=reply.calls != ()))
        for reply in left
    )
    script = Script(replies=(*summaries, *rounds), then=then)  # type: ignore[arg-type]  # one of its three
    return virtual_time.run(ask(script, look_up, settings=wishes, question=QUERY))


def indicators(asked: Query) -> set[str]:
    return {doubt.kind for doubt in asked.outcome.response.indicators}


def last_briefing(asked: Query) -> BriefingPrepared:
    event = asked.of(BriefingPrepared)[-1]
    assert isinstance(event, BriefingPrepared)
    return event


def summary_requests(asked: Query) -> list[Request]:
    started = [
        event
        for event in asked.of(ReasoningStarted)
        if isinstance(event, ReasoningStarted)
    ]
    return [event.request for event in started if event.call_id.endswith("-summary")]


def test_a_summarising_call_is_recorded_whole_and_counted_apart() -> None:
    asked = query(summary())
    response = asked.outcome.response

    (reply,) = asked.of(SummaryCompleted)
    (request,) = summary_requests(asked)
    assert isinstance(reply, SummaryCompleted)
    assert (reply.for_call, reply.text.text) == ("call-3", "Clerks counted grain.")
    assert (request.model, request.system, request.tools) == (
        "claude-haiku-5-5",
        SUMMARY_PROMPT,
        None,
    )
    assert list(refusals(request)) == []
    assert (response.calls, response.summaries) == (3, 1)
    assert response.summary_usage.input_tokens == 1_000
    assert response.summary_usage.cost_usd == pytest.approx(0.00015)
    assert response.usage.input_tokens == 30
    assert indicators(asked) == {"uncited_claim"}


def test_the_final_call_is_shown_the_summary_as_a_note() -> None:
    asked = query(summary())
    sent = [
        event.request
        for event in asked.of(ReasoningStarted)
        if isinstance(event, ReasoningStarted)
    ]

    assert "Clerks counted grain." in sent[-1].messages[0].content[-2].text
    assert last_briefing(asked).summary == "call-3-summary"
    assert len(asked.of(ReasoningCompleted)) == 3


def test_a_query_with_a_summary_replays_to_the_same_events() -> None:
    asked = query(summary())

    result = replay(asked.events)

    assert result.divergence is None
    assert result.closed


def test_a_replay_names_another_summary_prompt_and_diverges_if_its_version_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events = query(summary()).events
    first = events[0].event
    assert isinstance(first, QueryReceived)
    versions = (("system_prompt", SYSTEM_VERSION),)
    of_today = [replace(events[0], event=replace(first, versions=versions))]
    monkeypatch.setattr("antiphon.engine.preparing.SUMMARY_PROMPT", ScriptedText)

    older = replay(events)
    divergence = replay([*of_today, *events[1:]]).divergence

    assert older.divergence is None
    assert "today's system prompt" in older.skipped[0]
    assert divergence is not None
    assert (divergence.kind, divergence.field) == (
        "reasoning_started",
        "request.system",
    )


ScriptedText = type(SUMMARY_PROMPT)('[{"type":"text","text":"another prompt"}]')

FAILURES = {
    "overloaded": ScriptedReply(
        status=529, error="overloaded_error", when=FOR_A_SUMMARY, times=9
    ),
    "unknown model": ScriptedReply(
        status=404, error="not_found_error", when=FOR_A_SUMMARY, times=9
    ),
    "too long": ScriptedReply(
        status=400, error="invalid_request_error", when=FOR_A_SUMMARY, times=9
    ),
    "breaks off": summary(breaks=Break(at="text", how="end"), delta_chars=8, times=9),
    "stalls": summary(breaks=Break(at="text", how="stall"), delta_chars=8),
    "late": summary(first_byte_s=30.0),
    "no words": summary(""),
    "declined": summary("I cannot do that.", stop_reason="refusal"),
}


@pytest.mark.parametrize("reply", FAILURES.values(), ids=FAILURES.keys())
def test_a_summary_that_fails_leaves_the_extractive_briefing_and_a_doubt(
    reply: ScriptedReply,
) -> None:
    asked = query(reply)
    extractive = virtual_time.run(
        ask(Script(replies=ROUNDS), look_up, settings=QuerySettings(), question=QUERY)
    )

    assert asked.outcome.status == "answered"
    assert "summary_missing" in indicators(asked)
    assert last_briefing(asked) == last_briefing(extractive)
    assert asked.outcome.response.answer == extractive.outcome.response.answer
    assert replay(asked.events).divergence is None
    (requested,) = asked.of(SummaryRequested)
    assert isinstance(requested, SummaryRequested)
    # The rest takes no virtual time: a summary that fails costs no more than its own limit.
    assert asked.events[-1].at - asked.events[0].at <= requested.timeout_s + 0.1


def test_a_declined_summary_is_paid_for_all_the_same() -> None:
    asked = query(FAILURES["declined"])

    assert asked.outcome.response.summary_usage.output_tokens == 100


def test_with_too_little_time_the_service_makes_no_summary() -> None:
    asked = query(summary(), deadline_s=3.0)

    (skipped,) = asked.of(SummarySkipped)
    assert isinstance(skipped, SummarySkipped)
    assert skipped.limit == "deadline"
    assert asked.of(SummaryRequested) == []
    assert "summary_missing" in indicators(asked)


def test_a_slow_summary_never_costs_the_final_call_its_time() -> None:
    slow = query(summary(first_byte_s=500.0), deadline_s=20.0)

    assert slow.of(SummaryFailed)
    assert slow.outcome.status == "answered"
    assert slow.outcome.duration_ms < 20_000


def test_nobody_hears_of_tool_calls_in_a_summary() -> None:
    asked = query(
        summary(calls=(ScriptedCall(name="look_up", input={"words": "all"}),))
    )

    streamed = [
        event
        for event in asked.of(ToolCallStreamed)
        if isinstance(event, ToolCallStreamed)
    ]
    # Those of the two rounds; the summary's own call is not among them.
    assert {event.call_id for event in streamed} == {"call-1", "call-2"}
    assert asked.outcome.response.summaries == 1


def test_the_offline_reasoner_sums_up_what_there_is_and_says_where_it_is_from() -> None:
    asked = query(then="offline", max_rounds=2)
    material = summary_requests(asked)

    (summed,) = [
        event.text.text
        for event in asked.of(SummaryCompleted)
        if isinstance(event, SummaryCompleted)
    ]
    assert len(material) == 1
    assert asked.outcome.status == "answered"
    assert indicators(asked).isdisjoint({"summary_missing", "fallback_reasoner"})
    assert summed == "Nothing to note."
