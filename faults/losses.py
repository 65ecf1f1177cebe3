"""Which doubts an answer owes, by its trace alone: written apart from the assembler, so that each checks the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded

Owed = tuple[frozenset[str], Event]
"""Kinds of which one must be there, and the event that asks for it."""

_LIMITS: dict[str, str] = {
    "rounds": "round_limit", "tool_calls": "tool_call_limit", "deadline": "deadline", "tokens": "budget",
    "cost": "budget", "provider_open": "fallback_reasoner",
}  # fmt: skip
_LEVELS: dict[str, str] = {"round": "reasoning_retried", "session": "degraded_single_round"}
_ALWAYS: dict[type, str] = {
    e.ReasoningFailed: "reasoning_retried",
    e.ReasoningRetried: "reasoning_retried",
    e.HandlerFailed: "component_failed",
    e.RecordingFailed: "trace_incomplete",
    e.SummaryFailed: "summary_missing",
    e.SummarySkipped: "summary_missing",
}
_CUT_OFF = ("max_tokens", "model_context_window_exceeded")

OF_CONTENT = frozenset({"general_knowledge", "uncited_claim", "weak_evidence", "no_evidence", "unresolved_citation"})
"""Doubts that rest on what was said and found, not on anything lost."""


def owed(trace: Sequence[Recorded[Event]]) -> Iterator[Owed]:
    """The doubts that the losses before the answer ask for."""
    # An answer speaks of what had happened when it was asked for.
    answers = [said for said in trace if isinstance(said.event, e.ResponseAssembled)]
    asked_at = answers[-1].cause if answers else len(trace)
    before = [said.event for said in trace if said.seq <= asked_at]
    used = _used_calls(before)
    requests = [event for event in before if isinstance(event, e.AnswerRequested)]
    for event in before:
        kinds = _owed(event, used)
        # Asked again, because the answer was lost on its way, it is the first one that is said again.
        if kinds and event not in requests[1:]:
            yield frozenset(kinds), event
    yield from ((kinds, event) for kinds, event in _of_reply(before))
    yield from _of_reviews(before)


def _used_calls(events: Sequence[Event]) -> frozenset[str]:
    """The tool calls of replies that came whole; a call started for one that did not is nobody's loss."""
    replies = [event for event in events if isinstance(event, e.ReasoningCompleted)]
    confirmed = (event.tool_call_ids for event in events if isinstance(event, e.ToolCallsConfirmed))
    return frozenset((*(call.id for reply in replies for call in reply.tool_calls), *chain.from_iterable(confirmed)))


def _owed(event: Event, used: frozenset[str]) -> set[str]:
    match event:
        case e.ToolFailed(failure=failure, tool_call_id=id_):
            return {"tool_failed"} if id_ in used and failure != "not_found" else set()
        case e.ToolSubstituted(tool_call_id=id_):
            return {"tool_substituted"} if id_ in used else set()
        case e.RecoveryStarted(level=level):
            return {_LEVELS[level]} if level in _LEVELS else set()
        case e.QueryReceived(history_missing=missing):
            return {"history_missing"} if missing else set()
        case e.SummaryCompleted():
            return set() if event.is_usable else {"summary_missing"}
        case e.AnswerRequested(mode=mode):
            return set() if mode == "reply" else {"partial_evidence", "no_evidence"}
        case e.BreakerTripped(limit=limit):
            return _of_limit(limit)
    return {_ALWAYS[type(event)]} if type(event) in _ALWAYS else set()


def _of_limit(limit: str) -> set[str]:
    if limit not in _LIMITS:
        return set()
    # Without a reply there is nobody who spoke in the model's place.
    return {_LIMITS[limit], "no_evidence", "partial_evidence"} if limit == "provider_open" else {_LIMITS[limit]}


def _of_reply(events: Sequence[Event]) -> Iterator[Owed]:
    """The doubts that the answering reply itself asks for."""
    asked = next((event for event in events if isinstance(event, e.AnswerRequested)), None)
    if asked is None or asked.mode != "reply":
        return
    for event in events:
        if isinstance(event, e.ReasoningCompleted) and event.call_id == asked.call_id:
            if event.stop_reason in _CUT_OFF:
                yield frozenset({"truncated"}), event
            if event.stop_reason == "refusal":
                yield frozenset({"refused"}), event
        if isinstance(event, e.BriefingPrepared) and event.call_id == asked.call_id and _cut(event):
            yield frozenset({"context_compressed"}), event
        if isinstance(event, e.ReasoningRequested) and event.call_id == asked.call_id and event.reasoner == "fallback":
            yield _BY_FALLBACK | (_UNHEARD if any(map(_not_heard, events)) else frozenset()), event


def _of_reviews(events: Sequence[Event]) -> Iterator[Owed]:
    """The doubts of reviewers who rejected the answering reply, or never judged it."""
    asked = next((event for event in events if isinstance(event, e.AnswerRequested)), None)
    if asked is None or asked.mode != "reply":
        return
    judges = set()
    for event in events:
        if isinstance(event, e.DraftReviewed) and event.call_id == asked.call_id:
            judges.add(event.reviewer)
            if not event.accepted:
                yield frozenset({"not_verified"}), event
    for event in events:
        if isinstance(event, e.QueryReceived) and not judges.issuperset(event.reviewers):
            yield frozenset({"not_verified"}), event


_BY_FALLBACK = frozenset({"fallback_reasoner", "no_evidence"})
_UNHEARD = frozenset({"partial_evidence"})
"""Where the assembler could not take in the reply, the answer is not the fallback's but what was found."""


def _not_heard(event: Event) -> bool:
    return isinstance(event, e.HandlerFailed) and event.handler == "ResponseAssembler.on_reasoning_completed"


def _cut(event: e.BriefingPrepared) -> bool:
    """Whether something did not fit; what decayed was not wanted, and what is repeated stands elsewhere."""
    return any(item.rule == "budget" for item in event.dropped)
