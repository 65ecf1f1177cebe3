"""Which recorded troubles are a reason to doubt the answer."""

from __future__ import annotations

from antiphon.assembler.seen import Seen, Trouble
from antiphon.assembler.uncertainty import indicator
from antiphon.assembler.wording import MODEL_FAILURES, TOOL_FAILURES
from antiphon.vocabulary.events import (
    BreakerTripped,
    HandlerFailed,
    QueryReceived,
    ReasoningFailed,
    ReasoningRetried,
    Recorded,
    RecoveryStarted,
    SummaryCompleted,
    SummaryFailed,
    SummarySkipped,
    ToolFailed,
    ToolSubstituted,
)
from antiphon.vocabulary.values import Indicator

LIMIT_DOUBTS = {
    "rounds": "round_limit",
    "tool_calls": "tool_call_limit",
    "deadline": "deadline",
    "tokens": "budget",
    "cost": "budget",
}
"""The limits whose reaching means that something wanted was not had; the other trips have their own signs."""


def doubts_of(seen: Seen) -> list[Indicator]:
    """The doubts that rest on troubles, in their order."""
    asked = frozenset((*seen.confirmed, *(call.id for said in seen.replies for call in said.event.tool_calls)))
    failed = frozenset(said.seq for said in seen.troubles if isinstance(said.event, ReasoningFailed))
    found = (_doubt(said, asked, failed) for said in seen.troubles)
    return [doubt for doubt in found if doubt is not None]


def _doubt(said: Recorded[Trouble], asked: frozenset[str], failed: frozenset[int]) -> Indicator | None:
    event = said.event
    if isinstance(event, QueryReceived):
        return indicator("history_missing", said.seq)
    if isinstance(event, ToolFailed | ToolSubstituted):
        return _tool_doubt(event, said.seq) if event.tool_call_id in asked else None
    if isinstance(event, ReasoningRetried | ReasoningFailed):
        return _model_doubt(event, said.seq)
    if isinstance(event, SummaryCompleted | SummaryFailed | SummarySkipped):
        return indicator("summary_missing", said.seq, reason=_no_summary(event))
    if isinstance(event, BreakerTripped):
        return indicator(LIMIT_DOUBTS[event.limit], said.seq) if event.limit in LIMIT_DOUBTS else None
    if isinstance(event, RecoveryStarted):
        return _recovery_doubt(event, said.seq, failed)
    return indicator("component_failed" if isinstance(event, HandlerFailed) else "trace_incomplete", said.seq)


def _tool_doubt(event: ToolFailed | ToolSubstituted, seq: int) -> Indicator | None:
    """A failed or replaced call of a reply that was used; that something does not exist is an answer, no failure."""
    if isinstance(event, ToolSubstituted):
        return indicator("tool_substituted", seq, tool=event.failed, substitute=event.substitute)
    if event.failure == "not_found":
        return None
    return indicator("tool_failed", seq, tool=event.name, reason=TOOL_FAILURES[event.failure])


def _model_doubt(event: ReasoningRetried | ReasoningFailed, seq: int) -> Indicator:
    failure = event.why if isinstance(event, ReasoningRetried) else event.failure
    return indicator("reasoning_retried", seq, reason=MODEL_FAILURES[failure])


def _no_summary(event: SummaryCompleted | SummaryFailed | SummarySkipped) -> str:
    if isinstance(event, SummaryFailed):
        return MODEL_FAILURES[event.failure]
    return event.detail if isinstance(event, SummarySkipped) else "the model gave none"


def _recovery_doubt(event: RecoveryStarted, seq: int, failed: frozenset[int]) -> Indicator | None:
    """The levels `tool` and `response` show by what they led to: a substitute, a fallback, a partial answer.

    A round that is made again after a failed call shows by that failure, whose own words are not for users.
    """
    if event.level == "round":
        return None if event.event_seq in failed else indicator("reasoning_retried", seq, reason=event.why)
    return indicator("degraded_single_round", seq) if event.level == "session" else None
