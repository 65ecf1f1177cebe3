"""Decides which incidents are a reason to doubt the answer."""

from __future__ import annotations

from antiphon.assembler.answer_state import AnswerState, Incident
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
"""The doubt for each limit that, once reached, kept the query from something; other trips have their own signs."""


def doubts_of(state: AnswerState) -> list[Indicator]:
    """Returns the doubts that incidents give rise to, in order."""
    used_calls = _used_tool_calls(state)
    # A failure comes before the recovery that it leads to, so it is known by the time it is needed.
    failed_seqs: set[int] = set()
    doubts: list[Indicator] = []
    for incident in state.incidents:
        event = incident.event
        if isinstance(event, ReasoningFailed):
            failed_seqs.add(incident.seq)
        if isinstance(event, ToolFailed | ToolSubstituted):
            doubt = _tool_doubt(state, event, incident.seq, used_calls)
        elif isinstance(event, RecoveryStarted):
            doubt = _recovery_doubt(state, event, incident.seq, failed_seqs)
        else:
            doubt = _doubt(state, incident)
        if doubt is not None:
            doubts.append(doubt)
    return doubts


def _used_tool_calls(state: AnswerState) -> set[str]:
    used = set(state.confirmed)
    for reply in state.replies:
        for call in reply.event.tool_calls:
            used.add(call.id)
    return used


def _tool_doubt(
    state: AnswerState,
    event: ToolFailed | ToolSubstituted,
    seq: int,
    used_calls: set[str],
) -> Indicator | None:
    # A call that only a failed attempt asked for has no part in the answer.
    if event.tool_call_id not in used_calls:
        return None
    if isinstance(event, ToolSubstituted):
        return state.doubt(
            "tool_substituted", seq, tool=event.failed, substitute=event.substitute
        )
    # To learn that something does not exist is an answer, not a failure.
    if event.failure == "not_found":
        return None
    return state.doubt(
        "tool_failed", seq, tool=event.name, reason=TOOL_FAILURES[event.failure]
    )


def _recovery_doubt(
    state: AnswerState, event: RecoveryStarted, seq: int, failed_seqs: set[int]
) -> Indicator | None:
    """Returns the doubt for a recovery that leaves no other sign.

    The levels `tool` and `response` leave one: a substitute, a fallback, a partial answer. A round that is repeated
    after a failed call leaves that failure, whose own words are not for users.
    """
    if event.level == "session":
        return state.doubt("degraded_single_round", seq)
    if event.level == "round" and event.event_seq not in failed_seqs:
        return state.doubt("reasoning_retried", seq, reason=event.why)
    return None


def _doubt(state: AnswerState, incident: Recorded[Incident]) -> Indicator | None:
    """Returns the doubt for any other incident; None for the trip of a limit that has its own sign."""
    seq = incident.seq
    match incident.event:
        case QueryReceived():
            return state.doubt("history_missing", seq)
        case ReasoningRetried(why=failure) | ReasoningFailed(failure=failure):
            return state.doubt("reasoning_retried", seq, reason=MODEL_FAILURES[failure])
        case SummaryCompleted() | SummaryFailed() | SummarySkipped():
            return state.doubt(
                "summary_missing", seq, reason=_why_no_summary(incident.event)
            )
        case BreakerTripped(limit=limit) if limit in LIMIT_DOUBTS:
            return state.doubt(LIMIT_DOUBTS[limit], seq)
        case HandlerFailed():
            return state.doubt("component_failed", seq)
        case RecordingFailed():
            return state.doubt("trace_incomplete", seq)
        case _:
            return None


def _why_no_summary(event: SummaryCompleted | SummaryFailed | SummarySkipped) -> str:
    if isinstance(event, SummaryFailed):
        return MODEL_FAILURES[event.failure]
    if isinstance(event, SummarySkipped):
        return event.detail
    return "the model gave none"
