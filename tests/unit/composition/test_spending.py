"""What a query is counted for, from its events: what was said, and the most of what was not."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.composition.spending import (
    charges_in,
    lost_in,
)
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Request, StoredText, Usage
from tests.story import placed

MOST = Usage(input_tokens=900, output_tokens=2_000, cost_usd=0.03)
SAID = Usage(input_tokens=400, output_tokens=50, cost_usd=0.002)
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


def replied(usage: Usage) -> e.ReasoningCompleted:
    return e.ReasoningCompleted(
        call_id="c1", round=1, content=(), text=StoredText("x"), tool_calls=(), citations=(), stop_reason="end_turn",
        usage=usage, model="m", message_id="x",
    )  # fmt: skip


def trace(*events: Event) -> list[Recorded[Event]]:
    return placed("q", list(events))


def test_a_refused_attempt_counts_for_nothing_while_its_call_is_under_way() -> None:
    assert lost_in(trace(requested(), sent(), retried(Usage()))) == Usage()


def test_where_nobody_knows_what_a_call_took_that_is_said() -> None:
    of_older_times = trace(requested(), sent(Usage()))

    assert charges_in(trace(requested())) == [None]
    assert charges_in(of_older_times) == [None]
    assert charges_in(trace(requested(), sent(), replied(Usage()))) == [None]
    once_more = trace(requested(), RESUMED, sent(), replied(SAID))
    assert charges_in(once_more) == [None, SAID]


def test_a_fork_that_its_recording_answers_costs_nothing() -> None:
    parent = trace(requested(), sent(), replied(SAID))
    fork = [replace(each, query_id="fork") for each in parent]

    assert charges_in(fork, parent) == []
