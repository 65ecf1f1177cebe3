"""The pending table holds who owes what, and nothing that was settled."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pytest

from antiphon.bus.pending import PendingTable, fold_pending
from antiphon.vocabulary.events import (
    AnswerRequested,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    QueryClosed,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    RoundOpened,
    ToolCallsConfirmed,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
)
from antiphon.vocabulary.values import StoredText, ToolCall, Usage
from tests.story import placed, query_received, response_assembled, tool_succeeded

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)
BRIEFING = BriefingPrepared(
    call_id="c1", round=1, messages=(), sources=(), facts=(), tokens=0
)
REASONING = ReasoningRequested(
    call_id="c1",
    round=1,
    final=False,
    reasoner="primary",
    model="m",
    max_tokens=1,
    timeout_s=1.0,
    max_rounds=2,
    messages=(),
)
REPLY = ReasoningCompleted(
    call_id="c1",
    round=1,
    content=(),
    text=StoredText(""),
    tool_calls=(),
    citations=(),
    stop_reason="end_turn",
    usage=Usage(),
    model="m",
    message_id="m1",
)
TOOL = ToolRequested(
    round=1, call=ToolCall(id="t1", name="search", arguments="{}"), timeout_s=1.0
)
CONFIRMED = ToolCallsConfirmed(round=1, tool_call_ids=("t1",))
SETTLED = ToolsSettled(round=1, succeeded=("t1",), failed=())
SYNTHESIZED = ContextSynthesized(round=1, facts=())
ANSWER = AnswerRequested(mode="plain")


def table(events: Sequence[Event]) -> PendingTable:
    """The table after these events."""
    start: PendingTable = {}
    return reduce(fold_pending, placed("q1", events), start)


def owed(*events: Event) -> list[str]:
    """Who owes what after these events."""
    return [str(pending) for pending in table(events).values()]


@pytest.mark.parametrize(
    ("asked", "debt"),
    [
        (query_received(), "coordinator: query_closed, since seq 1"),
        (ROUND, "synthesizer: briefing_prepared of c1, since seq 1"),
        (
            REASONING,
            "engine: reasoning_completed or reasoning_failed of c1, since seq 1",
        ),
        (TOOL, "dispatcher: tool_succeeded or tool_failed of t1, since seq 1"),
        (CONFIRMED, "dispatcher: tools_settled of round 1, since seq 1"),
        (SETTLED, "synthesizer: context_synthesized of round 1, since seq 1"),
        (ANSWER, "assembler: response_assembled, since seq 1"),
        (response_assembled(), "coordinator: query_closed, since seq 1"),
    ],
)
def test_what_is_asked_for_is_owed(asked: Event, debt: str) -> None:
    assert owed(asked) == [debt]


@pytest.mark.parametrize(
    ("asked", "paid"),
    [
        (query_received(), QueryClosed(status="answered")),
        (ROUND, BRIEFING),
        (REASONING, REPLY),
        (REASONING, ReasoningFailed(call_id="c1", failure="timeout", detail="")),
        (TOOL, tool_succeeded()),
        (
            TOOL,
            ToolFailed(tool_call_id="t1", name="search", failure="error", detail=""),
        ),
        (SETTLED, SYNTHESIZED),
        (response_assembled(), QueryClosed(status="answered")),
    ],
)
def test_what_came_is_no_longer_owed(asked: Event, paid: Event) -> None:
    assert owed(asked, paid) == []


def test_a_debt_is_paid_by_its_own_call_only() -> None:
    other = ToolFailed(tool_call_id="t2", name="search", failure="error", detail="")

    assert len(owed(TOOL, other)) == 1


def test_settled_tools_pay_one_debt_and_make_the_next() -> None:
    assert owed(CONFIRMED, SETTLED) == [
        "synthesizer: context_synthesized of round 1, since seq 2"
    ]
    assert owed(ANSWER, response_assembled()) == [
        "coordinator: query_closed, since seq 2"
    ]


def test_the_end_of_a_query_cancels_all_debts() -> None:
    assert owed(query_received(), ROUND, TOOL, QueryClosed(status="failed")) == []


def test_an_event_that_asks_and_pays_nothing_leaves_the_table_as_it_is() -> None:
    before = table([query_received()])
    retold = placed("q1", [tool_succeeded()])[0]

    assert fold_pending(before, retold) == before
