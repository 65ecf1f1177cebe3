"""The faults of one query while it runs: traversals are counted, so that a plan means the same every time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any

from antiphon.bus import handled_seq
from antiphon.faults.plan import Fault, Kind, When
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.values import Value

FOREVER_S = 3_600.0
"""Longer than any deadline."""
WAITS_S: dict[Kind, float] = {"hang": FOREVER_S, "slow": 20.0}
"""How long tools and ports wait, in seconds: for `slow` longer than the time that a call of a tool is given."""


class InjectedError(ServiceError):
    """An injected `raise` at a point that has no error of its own."""

    code = "injected"


async def wait_or_raise(
    fault: Fault, name: str, sleep: Callable[[float], Awaitable[None]], waits_s: Mapping[Kind, float] = WAITS_S
) -> None:
    """Breaks a call in a way that every asynchronous port knows: it waits, is cancelled, or raises.

    Args:
        name: What is broken, for the error's message.
        waits_s: How long the kinds of faults that wait do so, in seconds, where the fault does not say.
    """
    if fault.kind in waits_s:
        await sleep(fault.for_s or waits_s[fault.kind])
    elif fault.kind == "cancel":
        raise asyncio.CancelledError(f"{name}: injected: cancel")
    else:
        raise InjectedError(f"{name}: injected: {fault.kind}")


class Fired(Value, frozen=True, kw_only=True):
    """A fault that fired, and the part of the query in which it did."""

    point: str
    kind: str
    when: When


class QueryFaults:
    """The faults that one query meets, and what came of them.

    Attributes:
        part: The part of the query that is under way.
        traversed: Every point traversed, with the part of the query.
        fired: Every fault that fired, in order.
        lost: Events that a fault kept out of the trace, or put in twice.
        undelivered: Events (by kind) that a fault kept from a component, as pairs of kind and component.
        raised: Points at which an injected error was really raised: work that is ended before it begins raises none.
        delayed: Work that was to begin later; what was ended before it began is closed after the query.
        closing: The end of the query was published.
        stored_seq: The last event that the store took.
        acted_unstored: The first event that was acted on before the store had taken it; 0 where there is none.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.part: When = "start"
        self.traversed: set[tuple[str, When]] = set()
        self.fired: list[Fired] = []
        self.lost: list[Event] = []
        self.undelivered: set[tuple[str, str]] = set()
        self.raised: list[str] = []
        self.delayed: list[Coroutine[Any, Any, None]] = []
        self.closing = False
        self.stored_seq = 0
        self.acted_unstored = 0
        self._counted = [_CountedFault(fault) for fault in faults]

    def traverse(self, point: str) -> Fault | None:
        """Counts a traversal of `point`; returns the fault that fires there now, or None."""
        self.traversed.add((point, self.part))
        first: Fault | None = None
        for counted in self._counted:
            # Every fault counts, though only the first of several fires: which one it is must not shift the others.
            if counted.applies(point, self.part) and counted.fires() and first is None:
                first = counted.fault
        if first is not None:
            self.fired.append(Fired(point=point, kind=first.kind, when=self.part))
        return first

    def count_past(self, point: str, when: When) -> None:
        """Counts a traversal from before the query was gone on with: no fault fires at it."""
        for counted in self._counted:
            if counted.applies(point, when):
                counted.fires()

    def note_call(self) -> None:
        """Notes that a model or a tool is called: the event that led to it should be stored."""
        seq = handled_seq()
        if seq > self.stored_seq and not self.acted_unstored:
            self.acted_unstored = seq

    def note_raised(self, point: str) -> None:
        """Notes an injected error, while the query could still record it."""
        if not self.closing:
            self.raised.append(point)


class _CountedFault:
    """A fault, and how often its point was traversed."""

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self._traversals = 0

    def applies(self, point: str, when: When) -> bool:
        return self.fault.when in ("any", when) and self.fault.is_at(point)

    def fires(self) -> bool:
        """Counts one traversal; returns True if the fault fires at it."""
        self._traversals += 1
        if self._traversals < self.fault.nth:
            return False
        return self.fault.times == 0 or self._traversals < self.fault.nth + self.fault.times
