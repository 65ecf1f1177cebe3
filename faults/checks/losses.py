"""Derives the doubts that an answer must state from its trace alone.

Written independently of the assembler, which derives the same, so that each checks the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded

OF_CONTENT = frozenset(
    {
        "general_knowledge",
        "uncited_claim",
        "weak_evidence",
        "closest_found",
        "loose_fit",
        "part_missing",
        "no_evidence",
        "not_searched",
        "unresolved_citation",
        "unsupported_citation",
        "unsupported_claim",
        "instruction_in_source",
        "advertisement",
        "contradiction",
        "foreign_link",
        "earlier_topic",
    }
)
"""Doubts about the content of the answer and its sources, rather than a loss."""

Kinds = frozenset[str]
"""Kinds of doubts, one of which must appear."""

_NONE: Kinds = frozenset()
_OF_LIMITS: dict[str, Kinds] = {
    "rounds": frozenset({"round_limit"}),
    "tool_calls": frozenset({"tool_call_limit"}),
    "deadline": frozenset({"deadline"}),
    "tokens": frozenset({"budget"}),
    "cost": frozenset({"budget"}),
    # Without a reply, there is no fallback reasoner to name.
    "provider_open": frozenset(
        {"fallback_reasoner", "no_evidence", "partial_evidence"}
    ),
}
_OF_RECOVERY: dict[str, Kinds] = {
    "round": frozenset({"reasoning_retried"}),
    "session": frozenset({"degraded_single_round"}),
}
_OF_STOP_REASONS: dict[str, Kinds] = {
    "max_tokens": frozenset({"truncated"}),
    "model_context_window_exceeded": frozenset({"truncated"}),
    "refusal": frozenset({"refused"}),
}


class ExpectedDoubt(NamedTuple):
    """A loss: because of `event` the answer must state a doubt of one of `kinds`."""

    kinds: Kinds
    event: Event


def expected_doubts(trace: Sequence[Recorded[Event]]) -> list[ExpectedDoubt]:
    """Lists the doubts that the losses before the answer require."""
    before = _before_the_answer(trace)
    requests = [event for event in before if isinstance(event, e.AnswerRequested)]
    # If the answer was lost on its way and requested again, the caller still gets the first answer.
    found = list(_of_losses(before, requests[1:]))
    if not requests:
        return found
    request = requests[0]
    if request.mode == "reply":
        found += _of_reply(before, request.call_id)
        found += _of_reviews(before, request.call_id)
    elif request.call_id is not None:
        found += _of_ending(before, request.call_id)
    return found


def _of_losses(
    events: Sequence[Event], ignored: Sequence[Event]
) -> Iterator[ExpectedDoubt]:
    """Yields the doubts that single events require."""
    used = _used_calls(events)
    for event in events:
        if event in ignored:
            continue
        kinds = _kinds_of(event, used)
        if kinds:
            yield ExpectedDoubt(kinds, event)


def _before_the_answer(trace: Sequence[Recorded[Event]]) -> list[Event]:
    """Returns the events up to the request for the answer, the only ones that its doubts can mention."""
    requested_at = len(trace)
    for recorded in trace:
        if isinstance(recorded.event, e.ResponseAssembled):
            requested_at = recorded.cause
    return [recorded.event for recorded in trace if recorded.seq <= requested_at]


def _used_calls(events: Sequence[Event]) -> set[str]:
    """Returns the tool calls of complete replies; a call that an incomplete one started is no loss."""
    used: set[str] = set()
    for event in events:
        if isinstance(event, e.ReasoningCompleted):
            for call in event.tool_calls:
                used.add(call.id)
        elif isinstance(event, e.ToolCallsConfirmed):
            used.update(event.tool_call_ids)
    return used


def _of_failed_tool(event: e.ToolFailed, used: set[str]) -> Kinds:
    # "Not found" is an answer too; and nobody waits for a call that no complete reply contains.
    if event.failure == "not_found" or event.tool_call_id not in used:
        return _NONE
    return frozenset({"tool_failed"})


def _of_substitute(event: e.ToolSubstituted, used: set[str]) -> Kinds:
    return frozenset({"tool_substituted"}) if event.tool_call_id in used else _NONE


def _of_recovery(event: e.RecoveryStarted, _: set[str]) -> Kinds:
    return _OF_RECOVERY.get(event.level, _NONE)


def _of_question(event: e.QueryReceived, _: set[str]) -> Kinds:
    return frozenset({"history_missing"}) if event.history_missing else _NONE


def _of_summary(event: e.SummaryCompleted, _: set[str]) -> Kinds:
    return _NONE if event.is_usable else frozenset({"summary_missing"})


def _of_answer(event: e.AnswerRequested, _: set[str]) -> Kinds:
    if event.mode == "reply":
        return _NONE
    return frozenset({"partial_evidence", "no_evidence"})


def _of_limit(event: e.BreakerTripped, _: set[str]) -> Kinds:
    return _OF_LIMITS.get(event.limit, _NONE)


_ALWAYS: dict[type[Event], Kinds] = {
    e.ReasoningFailed: frozenset({"reasoning_retried"}),
    e.ReasoningRetried: frozenset({"reasoning_retried"}),
    e.HandlerFailed: frozenset({"component_failed"}),
    e.SummaryFailed: frozenset({"summary_missing"}),
    e.SummarySkipped: frozenset({"summary_missing"}),
}
"""Events that are always a loss."""

_SOMETIMES: dict[type[Event], Callable[[Any, set[str]], Kinds]] = {
    e.ToolFailed: _of_failed_tool,
    e.ToolSubstituted: _of_substitute,
    e.RecoveryStarted: _of_recovery,
    e.QueryReceived: _of_question,
    e.SummaryCompleted: _of_summary,
    e.AnswerRequested: _of_answer,
    e.BreakerTripped: _of_limit,
}
"""Events that may be a loss; each rule also gets the tool calls of complete replies."""


def _kinds_of(event: Event, used: set[str]) -> Kinds:
    """Returns the kinds of doubts one of which an event requires; empty if it is not a loss."""
    kind = type(event)
    if kind in _ALWAYS:
        return _ALWAYS[kind]
    if kind in _SOMETIMES:
        return _SOMETIMES[kind](event, used)
    return _NONE


def _of_reply(events: Sequence[Event], call_id: str | None) -> Iterator[ExpectedDoubt]:
    """Yields the doubts that the answering reply itself requires."""
    for event in events:
        if getattr(event, "call_id", None) != call_id:
            continue
        kinds = _NONE
        if isinstance(event, e.ReasoningCompleted):
            kinds = _OF_STOP_REASONS.get(event.stop_reason, _NONE)
        elif isinstance(event, e.BriefingPrepared):
            kinds = _of_briefing(event)
        elif isinstance(event, e.ReasoningRequested):
            kinds = _of_reasoner(event, events)
        if kinds:
            yield ExpectedDoubt(kinds, event)


def _of_ending(events: Sequence[Event], call_id: str) -> Iterator[ExpectedDoubt]:
    """Yields the doubt for the end of a reply that the facts replaced as the answer."""
    for event in events:
        if isinstance(event, e.ReasoningCompleted) and event.call_id == call_id:
            kinds = _OF_STOP_REASONS.get(event.stop_reason, _NONE)
            yield ExpectedDoubt(kinds, event)


def _of_reviews(
    events: Sequence[Event], call_id: str | None
) -> Iterator[ExpectedDoubt]:
    """Yields the doubts for reviewers that rejected the answering reply or never judged it."""
    not_verified: Kinds = frozenset({"not_verified"})
    judges: set[str] = set()
    for review in _reviews_of(events, call_id):
        judges.add(review.reviewer)
        if not review.accepted:
            yield ExpectedDoubt(not_verified, review)
    for event in events:
        if isinstance(event, e.QueryReceived) and not judges.issuperset(
            event.reviewers
        ):
            yield ExpectedDoubt(not_verified, event)


def _reviews_of(events: Sequence[Event], call_id: str | None) -> list[e.DraftReviewed]:
    return [
        event
        for event in events
        if isinstance(event, e.DraftReviewed) and event.call_id == call_id
    ]


def _of_reasoner(request: e.ReasoningRequested, events: Sequence[Event]) -> Kinds:
    if request.reasoner != "fallback":
        return _NONE
    for event in events:
        # If the assembler failed on the reply, the answer consists of the facts instead of the fallback's words.
        if (
            isinstance(event, e.HandlerFailed)
            and event.handler == "ResponseAssembler.on_reasoning_completed"
        ):
            return frozenset({"fallback_reasoner", "no_evidence", "partial_evidence"})
    return frozenset({"fallback_reasoner", "no_evidence"})


def _of_briefing(event: e.BriefingPrepared) -> Kinds:
    # Only an item that did not fit is a loss: decayed ones were not wanted, and repeated ones appear elsewhere.
    for item in event.dropped:
        if item.rule == "budget":
            return frozenset({"context_compressed"})
    return _NONE
