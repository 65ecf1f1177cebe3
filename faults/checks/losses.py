"""The doubts that an answer owes, by its trace alone.

Written apart from the assembler, which works out the same: so each checks the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded

OF_CONTENT = frozenset({"general_knowledge", "uncited_claim", "weak_evidence", "no_evidence", "unresolved_citation"})
"""Doubts that rest on what was answered and found, not on anything lost."""

_OF_LIMITS: dict[str, str] = {
    "rounds": "round_limit", "tool_calls": "tool_call_limit", "deadline": "deadline", "tokens": "budget",
    "cost": "budget", "provider_open": "fallback_reasoner",
}  # fmt: skip
_OF_RECOVERY: dict[str, str] = {"round": "reasoning_retried", "session": "degraded_single_round"}
_OF_STOP_REASONS: dict[str, frozenset[str]] = {
    "max_tokens": frozenset({"truncated"}),
    "model_context_window_exceeded": frozenset({"truncated"}),
    "refusal": frozenset({"refused"}),
}


class ExpectedDoubt(NamedTuple):
    """A loss: any one of `kinds` must show in the answer for the sake of `event`."""

    kinds: frozenset[str]
    event: Event


def expected_doubts(trace: Sequence[Recorded[Event]]) -> list[ExpectedDoubt]:
    """Lists the doubts that the losses before the answer ask for."""
    before = _before_the_answer(trace)
    requests = [event for event in before if isinstance(event, e.AnswerRequested)]
    # Requested again, because the answer was lost on its way, it is the first answer that is given again.
    repeated = requests[1:]
    used = _used_calls(before)
    found: list[ExpectedDoubt] = []
    for event in before:
        if event in repeated:
            continue
        kinds = _kinds_of(event, used)
        if kinds:
            found.append(ExpectedDoubt(kinds, event))
    if requests and requests[0].mode == "reply":
        found += _of_reply(before, requests[0].call_id)
        found += _of_reviews(before, requests[0].call_id)
    return found


def _before_the_answer(trace: Sequence[Recorded[Event]]) -> list[Event]:
    """Returns what had happened when the answer was requested: it speaks of nothing else."""
    requested_at = len(trace)
    for recorded in trace:
        if isinstance(recorded.event, e.ResponseAssembled):
            requested_at = recorded.cause
    return [recorded.event for recorded in trace if recorded.seq <= requested_at]


def _used_calls(events: Sequence[Event]) -> set[str]:
    """Returns the tool calls of replies that came whole; a call started for one that did not is nobody's loss."""
    used: set[str] = set()
    for event in events:
        if isinstance(event, e.ReasoningCompleted):
            used |= {call.id for call in event.tool_calls}
        elif isinstance(event, e.ToolCallsConfirmed):
            used |= set(event.tool_call_ids)
    return used


def _of_failed_tool(event: e.ToolFailed, used: set[str]) -> set[str]:
    if event.tool_call_id in used and event.failure != "not_found":
        return {"tool_failed"}
    return set()


def _of_substitute(event: e.ToolSubstituted, used: set[str]) -> set[str]:
    return {"tool_substituted"} if event.tool_call_id in used else set()


def _of_recovery(event: e.RecoveryStarted, _: set[str]) -> set[str]:
    return {_OF_RECOVERY[event.level]} if event.level in _OF_RECOVERY else set()


def _of_question(event: e.QueryReceived, _: set[str]) -> set[str]:
    return {"history_missing"} if event.history_missing else set()


def _of_summary(event: e.SummaryCompleted, _: set[str]) -> set[str]:
    return set() if event.is_usable else {"summary_missing"}


def _of_answer(event: e.AnswerRequested, _: set[str]) -> set[str]:
    return set() if event.mode == "reply" else {"partial_evidence", "no_evidence"}


def _of_limit(event: e.BreakerTripped, _: set[str]) -> set[str]:
    if event.limit not in _OF_LIMITS:
        return set()
    kinds = {_OF_LIMITS[event.limit]}
    if event.limit == "provider_open":
        # Without a reply there is nobody who spoke in the model's place.
        kinds |= {"no_evidence", "partial_evidence"}
    return kinds


_ALWAYS: dict[type[Event], str] = {
    e.ReasoningFailed: "reasoning_retried",
    e.ReasoningRetried: "reasoning_retried",
    e.HandlerFailed: "component_failed",
    e.RecordingFailed: "trace_incomplete",
    e.SummaryFailed: "summary_missing",
    e.SummarySkipped: "summary_missing",
}
_SOMETIMES: dict[type[Event], Callable[[Any, set[str]], set[str]]] = {
    e.ToolFailed: _of_failed_tool,
    e.ToolSubstituted: _of_substitute,
    e.RecoveryStarted: _of_recovery,
    e.QueryReceived: _of_question,
    e.SummaryCompleted: _of_summary,
    e.AnswerRequested: _of_answer,
    e.BreakerTripped: _of_limit,
}


def _kinds_of(event: Event, used: set[str]) -> frozenset[str]:
    """Returns the doubts of which one must show for an event; none where it is no loss."""
    if type(event) in _ALWAYS:
        return frozenset({_ALWAYS[type(event)]})
    if type(event) in _SOMETIMES:
        return frozenset(_SOMETIMES[type(event)](event, used))
    return frozenset()


def _of_reply(events: Sequence[Event], call_id: str | None) -> list[ExpectedDoubt]:
    """Lists the doubts that the answering reply itself asks for."""
    found: list[ExpectedDoubt] = []
    for event in events:
        if getattr(event, "call_id", None) != call_id:
            continue
        kinds: frozenset[str] = frozenset()
        match event:
            case e.ReasoningCompleted():
                kinds = _OF_STOP_REASONS.get(event.stop_reason, kinds)
            case e.BriefingPrepared() if _was_cut(event):
                kinds = frozenset({"context_compressed"})
            case e.ReasoningRequested(reasoner="fallback"):
                kinds = _of_fallback(events)
        if kinds:
            found.append(ExpectedDoubt(kinds, event))
    return found


def _of_reviews(events: Sequence[Event], call_id: str | None) -> list[ExpectedDoubt]:
    """Lists the doubts of reviewers who did not accept the answering reply, or never judged it."""
    found: list[ExpectedDoubt] = []
    judges: set[str] = set()
    for event in events:
        if isinstance(event, e.DraftReviewed) and event.call_id == call_id:
            judges.add(event.reviewer)
            if not event.accepted:
                found.append(ExpectedDoubt(frozenset({"not_verified"}), event))
    for event in events:
        if isinstance(event, e.QueryReceived) and not judges.issuperset(event.reviewers):
            found.append(ExpectedDoubt(frozenset({"not_verified"}), event))
    return found


def _of_fallback(events: Sequence[Event]) -> frozenset[str]:
    for event in events:
        # Where the assembler could not take the reply in, the answer is not the fallback's but what was found.
        if isinstance(event, e.HandlerFailed) and event.handler == "ResponseAssembler.on_reasoning_completed":
            return frozenset({"fallback_reasoner", "no_evidence", "partial_evidence"})
    return frozenset({"fallback_reasoner", "no_evidence"})


def _was_cut(event: e.BriefingPrepared) -> bool:
    """Returns True if something did not fit; what decayed was not wanted, and what is repeated stands elsewhere."""
    return "budget" in [item.rule for item in event.dropped]
