"""Which fault fires at which passage through which door: counted, so that a plan means the same every time."""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from typing import Any

from antiphon.bus import handled_seq
from antiphon.faults.plan import Fault, When
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.values import Value


class InjectedError(ServiceError):
    """What an injected `raise` raises where the door has no error of its own."""

    code = "injected"


class Fired(Value, frozen=True, kw_only=True):
    """A fault that fired, and when it did."""

    point: str
    kind: str
    when: When


class Meeting:
    """One query's plan while it runs.

    Attributes:
        when: The part of the query that is under way.
        seen: Every door passed, with the part of the query.
        fired: Every fault that fired, in order.
        lost: Events that a fault kept out of the trace, or put in twice.
        stored_seq: The last event that the store took.
        acted_unstored: The first event that was acted on before the store had taken it; 0 where there is none.
        raised: Doors at which an injected error was really raised: work that is ended before it begins raises none.
        held: Work that was to begin later; what was ended before it began is closed after the query.
        closing: The end of the query was said.
        unheard: Events (by kind) that a fault kept from a component, as pairs of kind and component.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.when: When = "start"
        self.seen: set[tuple[str, When]] = set()
        self.fired: list[Fired] = []
        self.lost: list[Event] = []
        self.unheard: set[tuple[str, str]] = set()
        self.raised: list[str] = []
        self.held: list[Coroutine[Any, Any, None]] = []
        self.closing = False
        self.stored_seq = 0
        self.acted_unstored = 0
        self._armed = [_Armed(fault) for fault in faults]

    def note_raised(self, point: str) -> None:
        """An injected error was raised at `point`, while the query could still say so."""
        if not self.closing:
            self.raised.append(point)

    def act(self) -> None:
        """A model or a tool is called: the event that led to it should be stored."""
        seq = handled_seq()
        if seq > self.stored_seq and not self.acted_unstored:
            self.acted_unstored = seq

    def went_by(self, point: str, when: When) -> None:
        """Counts a passage from before the query was gone on with: no fault fires at it."""
        for armed in self._armed:
            if armed.fits(point, when):
                armed.passes()

    def meet(self, point: str) -> Fault | None:
        """Notes a passage through `point`; the fault that fires there now, or None."""
        self.seen.add((point, self.when))
        firing = [armed.fault for armed in self._armed if armed.fits(point, self.when) and armed.passes()]
        if not firing:
            return None
        self.fired.append(Fired(point=point, kind=firing[0].kind, when=self.when))
        return firing[0]


class _Armed:
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self._met = 0

    def fits(self, point: str, when: When) -> bool:
        if self.fault.when not in ("any", when):
            return False
        wanted = self.fault.point
        return point.startswith(wanted[:-1]) if wanted.endswith("*") else point == wanted

    def passes(self) -> bool:
        """Counts one passage; whether the fault fires at it."""
        self._met += 1
        last = self.fault.nth + self.fault.times - 1 if self.fault.times else self._met
        return self.fault.nth <= self._met <= last
