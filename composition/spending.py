"""What a query spends: the outcomes of its calls, found in its events."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
)
from antiphon.vocabulary.values import Usage

Spending = ReasoningCompleted | ReasoningFailed | SummaryCompleted | SummaryFailed
"""The outcome of a call, with what it used."""
_SPENDING = (ReasoningCompleted, ReasoningFailed, SummaryCompleted, SummaryFailed)


def spending_in(
    trace: Sequence[Recorded[Event]], paid: Sequence[Recorded[Event]] = ()
) -> list[Spending]:
    """Returns the outcomes of the calls that a query made itself, those of `paid` left out."""
    known = {_reply_key(recorded.event) for recorded in paid}
    found: list[Spending] = []
    for recorded in trace:
        event = recorded.event
        if isinstance(event, _SPENDING) and _reply_key(event) not in known:
            found.append(event)
    return found


def usage_of(event: Spending) -> Usage:
    """Returns what a call used, attempts that came to nothing included."""
    if isinstance(event, ReasoningCompleted | SummaryCompleted):
        return event.usage + event.wasted
    return event.usage


def _reply_key(event: Event) -> object:
    """Returns what a call's outcome and the same one given again from a recording share."""
    if not isinstance(event, _SPENDING):
        return None
    return type(event), event.call_id, event.usage


def bought_in(
    trace: Sequence[Recorded[Event]], paid: Sequence[Recorded[Event]] = ()
) -> list[Spending]:
    """Returns the same without the calls of the reasoner that stands in: it runs in this process, and costs nothing."""
    standing_in: set[str] = set()
    for recorded in trace:
        event = recorded.event
        if isinstance(event, ReasoningRequested) and event.reasoner == "fallback":
            standing_in.add(event.call_id)
    return [
        each for each in spending_in(trace, paid) if each.call_id not in standing_in
    ]


def shared_with_parent(trace: Sequence[Recorded[Event]]) -> int:
    """Returns how many events a fork shares with its parent; 0 for what is no fork."""
    for recorded in trace[:1]:
        if isinstance(recorded.event, QueryReceived) and recorded.event.parent:
            return recorded.event.parent_seq
    return 0
