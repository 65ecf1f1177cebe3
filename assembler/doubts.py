"""Decides which incidents are a reason to doubt the answer."""

from __future__ import annotations

from antiphon.assembler.state import AnswerState, Incident
from antiphon.assembler.uncertainty import indicator
from antiphon.assembler.wording import MODEL_FAILURES, TOOL_FAILURES
from antiphon.vocabulary.events import (
    BreakerTripped,
    HandlerFailed,
    QueryReceived,
    ReasoningFailed,
    ReasoningRetried,
    Recorded,
    RecordingFailed,
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


def doubts_of(state: AnswerState) -> list[Indicator]:
    """Returns the doubts that rest on incidents, in their order."""
    used_calls = _used_tool_calls(state)
    failed_seqs = {incident.seq for incident in state.incidents if isinstance(incident.event, ReasoningFailed)}
    doubts: list[Indicator] = []
    for incident in state.incidents:
        event = incident.event
        if isinstance(event, ToolFailed | ToolSubstituted):
            # A call that only a failed attempt asked for has no part in the answer.
            doubt = _tool_doubt(event, incident.seq) if event.tool_call_id in used_calls else None
        elif isinstance(event, RecoveryStarted):
            doubt = _recovery_doubt(event, incident.seq, failed_seqs)
        else:
            doubt = _doubt(incident)
        if doubt is not None:
            doubts.append(doubt)
    return doubts


def _used_tool_calls(state: AnswerState) -> set[str]:
    used = set(state.confirmed)
    for reply in state.replies:
        used.update(call.id for call in reply.event.tool_calls)
    return used


def _tool_doubt(event: ToolFailed | ToolSubstituted, seq: int) -> Indicator | None:
    if isinstance(event, ToolSubstituted):
        return indicator("tool_substituted", seq, tool=event.failed, substitute=event.substitute)
    # That something does not exist is an answer, and no failure.
    if event.failure == "not_found":
        return None
    return indicator("tool_failed", seq, tool=event.name, reason=TOOL_FAILURES[event.failure])


def _recovery_doubt(event: RecoveryStarted, seq: int, failed_seqs: set[int]) -> Indicator | None:
    """Returns the doubt of a recovery that shows by nothing else.

    The levels `tool` and `response` show by what they led to: a substitute, a fallback, a partial answer. A round that
    is made again after a failed call shows by that failure, whose own words are not for users.
    """
    if event.level == "session":
        return indicator("degraded_single_round", seq)
    if event.level == "round" and event.event_seq not in failed_seqs:
        return indicator("reasoning_retried", seq, reason=event.why)
    return None


def _doubt(incident: Recorded[Incident]) -> Indicator | None:
    seq = incident.seq
    match incident.event:
        case QueryReceived():
            return indicator("history_missing", seq)
        case ReasoningRetried(why=failure) | ReasoningFailed(failure=failure):
            return indicator("reasoning_retried", seq, reason=MODEL_FAILURES[failure])
        case SummaryCompleted() | SummaryFailed() | SummarySkipped():
            return indicator("summary_missing", seq, reason=_why_no_summary(incident.event))
        case BreakerTripped(limit=limit) if limit in LIMIT_DOUBTS:
            return indicator(LIMIT_DOUBTS[limit], seq)
        case HandlerFailed():
            return indicator("component_failed", seq)
        case RecordingFailed():
            return indicator("trace_incomplete", seq)
        case _:
            return None


def _why_no_summary(event: SummaryCompleted | SummaryFailed | SummarySkipped) -> str:
    if isinstance(event, SummaryFailed):
        return MODEL_FAILURES[event.failure]
    if isinstance(event, SummarySkipped):
        return event.detail
    return "the model gave none"
