"""The spending of a query: the outcomes of its calls, found in its events, and the most of calls without an outcome."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    QueryResumed,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
)
from antiphon.vocabulary.values import Usage

Spending = ReasoningCompleted | ReasoningFailed | SummaryCompleted | SummaryFailed
"""The outcome of a call, with its usage."""
_SPENDING = (ReasoningCompleted, ReasoningFailed, SummaryCompleted, SummaryFailed)
Charge = Usage | None
"""The usage that a call is charged for; None: nobody knows how much it used."""


def spending_in(
    trace: Sequence[Recorded[Event]], paid: Sequence[Recorded[Event]] = ()
) -> list[Spending]:
    """Returns the outcomes of the calls that a query made itself, without those of `paid`."""
    known = {_reply_key(recorded.event) for recorded in paid}
    found: list[Spending] = []
    for recorded in trace:
        event = recorded.event
        if isinstance(event, _SPENDING) and _reply_key(event) not in known:
            found.append(event)
    return found


def usage_of(event: Spending) -> Usage:
    """Returns the usage of a call as far as servers reported it, including attempts that failed."""
    if isinstance(event, ReasoningCompleted | SummaryCompleted):
        return event.usage + event.wasted
    return event.usage


def _reply_key(event: Event) -> object:
    """Returns a key that an outcome shares with the same outcome repeated from a recording; None for other events."""
    if not isinstance(event, _SPENDING):
        return None
    return type(event), event.call_id, event.usage


def charges_in(
    trace: Sequence[Recorded[Event]], paid: Sequence[Recorded[Event]] = ()
) -> list[Charge]:
    """Returns the charges for the calls of a query; one that was broken off is charged for the most it may have used.

    The calls of the fallback reasoner are left out: it runs in this process, and costs nothing.

    Args:
        paid: The events from which it goes on; their calls were charged already, or come from a recording.
    """
    # Events of another query are a recording, which answers all calls of this one.
    if trace and paid and paid[0].query_id != trace[0].query_id:
        return []
    charges = _folded(trace, len(paid))
    return [*charges.ended, *charges.broken_off()]


def ended_charges_in(trace: Sequence[Recorded[Event]]) -> list[Charge]:
    """Returns the charges for the calls that have ended, without those under way."""
    return _folded(trace, 0).ended


def total_of(charges: Sequence[Charge]) -> tuple[int, float]:
    """Returns the tokens and dollars of calls; one without a known price adds its tokens alone."""
    known = [charge for charge in charges if charge is not None]
    tokens = sum(charge.all_tokens for charge in known)
    return tokens, sum(charge.cost_usd or 0.0 for charge in known)


def lost_in(trace: Sequence[Recorded[Event]]) -> Usage:
    """Returns the most that the calls under way at a trace's end may have used."""
    lost = Usage()
    for charge in _folded(trace, 0).broken_off():
        if charge is not None:
            lost += charge
    return lost


def _folded(trace: Sequence[Recorded[Event]], paid: int) -> _Charges:
    """Folds a trace into the charges for its calls, without those of its first `paid` events."""
    charges = _Charges()
    for recorded in trace:
        event = recorded.event
        if isinstance(event, ReasoningRequested) and event.reasoner == "fallback":
            charges.standing_in.add(event.call_id)
        if recorded.seq > paid:
            charges.hear(event)
    return charges


class _Charges:
    """The charges for calls, as a fold over their events.

    Attributes:
        ended: The charges for calls that have ended.
        standing_in: The ids of calls to the fallback reasoner, which cost nothing.
    """

    def __init__(self) -> None:
        self.ended: list[Charge] = []
        self.standing_in: set[str] = set()
        self._under_way: dict[str, list[Charge]] = {}

    def hear(self, event: Event) -> None:
        """Takes in the next event."""
        match event:
            case QueryResumed():
                # The calls under way are lost, but were paid for; the query makes them once more.
                self.ended += self.broken_off()
                self._under_way = {call_id: [] for call_id in self._under_way}
            case (
                ReasoningRequested(call_id=call_id) | SummaryRequested(call_id=call_id)
            ):
                self._under_way[call_id] = []
            case ReasoningStarted(call_id=call_id, most=most):
                # Older traces do not hold it.
                charge = None if most.is_empty else most
                self._under_way.setdefault(call_id, []).append(charge)
            case ReasoningRetried(call_id=call_id, counted=counted):
                # The failed attempt costs what its server reported, and the most of the rest; the next adds its own.
                self._under_way.setdefault(call_id, [])[-1:] = [counted]
            case (
                ReasoningCompleted()
                | ReasoningFailed()
                | SummaryCompleted()
                | SummaryFailed()
            ):
                self._end(event)
            case _:
                pass

    def broken_off(self) -> list[Charge]:
        """Returns the charges for calls without an outcome."""
        charges: list[Charge] = []
        for call_id, sent in self._under_way.items():
            if call_id not in self.standing_in:
                # A call without a request may have been about to send it, or finding out how its server cites.
                charges += sent or [None]
        return charges

    def _end(self, event: Spending) -> None:
        self._under_way.pop(event.call_id, None)
        if event.call_id in self.standing_in:
            return
        charge = usage_of(event) + event.unreported
        # A reply must not be free because its server does not report the usage.
        if charge.is_empty and isinstance(event, ReasoningCompleted | SummaryCompleted):
            self.ended.append(None)
        else:
            self.ended.append(charge)


def shared_with_parent(trace: Sequence[Recorded[Event]]) -> int:
    """Returns how many events a fork shares with its parent; 0 for a query that is not a fork."""
    for recorded in trace[:1]:
        if isinstance(recorded.event, QueryReceived) and recorded.event.parent:
            return recorded.event.parent_seq
    return 0
