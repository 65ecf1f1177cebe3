"""What a query is counted for, from its events: what was said, and the most of what was not."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.composition.spending import (
    charges_in,
    ended_charges_in,
    lost_in,
)
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Request, StoredText, Usage
from tests.story import placed

MOST = Usage(input_tokens=900, output_tokens=2_000, cost_usd=0.03)
SAID = Usage(input_tokens=400, output_tokens=50, cost_usd=0.002)
REST = Usage(output_tokens=1_950, cost_usd=0.02)
REQUEST = Request(
    model="m", max_tokens=2_000, system=StoredText("[]"), messages=(), stream=True
)
RESUMED = e.QueryResumed(away_s=0.0, why="it ended", lost=MOST)


def requested(reasoner: e.Reasoner = "primary") -> e.ReasoningRequested:
    return e.ReasoningRequested(
        call_id="c1", round=1, final=False, reasoner=reasoner, model="m", max_tokens=2_000, timeout_s=1.0,
        max_rounds=2, messages=(),
    )  # fmt: skip


def sent(most: Usage = MOST) -> e.ReasoningStarted:
    return e.ReasoningStarted(
        call_id="c1", attempt=1, reasoner="m", request=REQUEST, most=most
    )


def retried(counted: Usage) -> e.ReasoningRetried:
    return e.ReasoningRetried(
        call_id="c1", attempt=1, wait_s=0.5, why="overloaded", detail="", counted=counted
    )  # fmt: skip


def failed(usage: Usage, unreported: Usage) -> e.ReasoningFailed:
    return e.ReasoningFailed(
        call_id="c1", failure="timeout", detail="", usage=usage, unreported=unreported
    )


def replied(usage: Usage) -> e.ReasoningCompleted:
    return e.ReasoningCompleted(
        call_id="c1", round=1, content=(), text=StoredText("x"), tool_calls=(), citations=(), stop_reason="end_turn",
        usage=usage, model="m", message_id="x",
    )  # fmt: skip


def trace(*events: Event) -> list[Recorded[Event]]:
    return placed("q", list(events))


def test_a_call_that_came_to_an_end_counts_for_what_it_says() -> None:
    events = trace(requested(), sent(), replied(SAID))

    assert charges_in(events) == ended_charges_in(events) == [SAID]
    assert charges_in(trace(requested(), sent(), failed(SAID, REST))) == [SAID + REST]


def test_a_call_without_an_end_counts_for_the_most_of_each_of_its_requests() -> None:
    events = trace(requested(), sent(), retried(SAID), sent())

    assert charges_in(events) == [SAID, MOST]
    assert ended_charges_in(events) == []
    assert lost_in(events) == SAID + MOST


def test_a_refused_attempt_counts_for_nothing_while_its_call_is_under_way() -> None:
    assert lost_in(trace(requested(), sent(), retried(Usage()))) == Usage()


def test_what_was_lost_counts_beside_the_call_that_was_made_once_more() -> None:
    events = trace(requested(), sent(), RESUMED, sent(), replied(SAID))

    assert charges_in(events) == [MOST, SAID]
    # Whoever resumed it has not paid for what came before.
    assert charges_in(events, events[:2]) == [SAID]


def test_where_nobody_knows_what_a_call_took_that_is_said() -> None:
    of_older_times = trace(requested(), sent(Usage()))

    assert charges_in(trace(requested())) == [None]
    assert charges_in(of_older_times) == [None]
    assert charges_in(trace(requested(), sent(), replied(Usage()))) == [None]
    once_more = trace(requested(), RESUMED, sent(), replied(SAID))
    assert charges_in(once_more) == [None, SAID]


def test_the_reasoner_that_stands_in_costs_nothing() -> None:
    here = requested("fallback")

    assert charges_in(trace(here)) == []
    assert charges_in(trace(here, sent())) == []
    assert charges_in(trace(here, sent(), replied(SAID))) == []


def test_a_fork_that_its_recording_answers_costs_nothing() -> None:
    parent = trace(requested(), sent(), replied(SAID))
    fork = [replace(each, query_id="fork") for each in parent]

    assert charges_in(fork, parent) == []
