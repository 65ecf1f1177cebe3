"""A query as its caller holds it: a trace that grows, whoever writes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from antiphon.composition.outcome import Outcome, Totals, outcome_of, spare_s
from antiphon.composition.spending import Charge, charges_in, shared_with_parent
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryClosed,
    QueryReceived,
    Recorded,
)


class GrowingTrace(Protocol):
    """The trace of one query: of a session here, of a worker in another process, or one that is over."""

    @property
    def query_id(self) -> str: ...

    @property
    def emitted(self) -> Sequence[Recorded[Event]]:
        """The events so far, as far as this process has them."""

    @property
    def recorded(self) -> bool:
        """True if all of them are stored."""

    def follow(
        self, after: int = 0, buffer: int = 1000
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields every event behind one of them, and text as it is written; ends with the query."""

    def cancel(self, why: str) -> None:
        """Has the query end; its trace says why."""

    async def closed(self) -> None:
        """Waits for the end of the query."""

    async def stopped(self, within_s: float | None = None) -> None:
        """Waits until this process writes nothing more of it, or for so long."""


class Query:
    """A query, under way or over.

    Args:
        totals: The sums that its outcome is added to; None: none.
        paid: The recorded events that it goes on from, as a fork or a resumed query does; their calls are not counted.

    Attributes:
        outlives_caller: Its caller may go away and come again: only the service itself cancels it.
    """

    def __init__(
        self,
        trace: GrowingTrace,
        totals: Totals | None = None,
        paid: Sequence[Recorded[Event]] = (),
    ) -> None:
        self.query_id = trace.query_id
        self._trace = trace
        self._totals = totals
        self._paid = paid
        self.outlives_caller = False

    @property
    def session_id(self) -> str:
        """Its conversation; empty until its first event was read."""
        for recorded in self._trace.emitted[:1]:
            if isinstance(recorded.event, QueryReceived):
                return recorded.event.session_id
        return ""

    @property
    def is_over(self) -> bool:
        """True once its trace says so; one that is broken off goes on when the service starts again."""
        trace = self._trace.emitted
        return bool(trace) and isinstance(trace[-1].event, QueryClosed)

    def follow(
        self, after: int = 0, buffer: int = 1000
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields every event behind one of them, and text as it is written; ends with the query.

        Raises:
            NotFoundError: No such trace, or the query has just ended: read its trace.
            SlowReaderError: While reading: the reader fell so many events behind.
        """
        return self._trace.follow(after, buffer)

    def cancel(self, why: str) -> None:
        """Ends the query, unless it is over; its trace says why."""
        self._trace.cancel(why)

    def leave(self, why: str) -> None:
        """Cancels the query because its caller goes away, unless it outlives its caller."""
        if not self.outlives_caller:
            self.cancel(why)

    def charges(self, *, paid_too: bool = False) -> list[Charge]:
        """Returns what the calls are counted for that it made so far and that may cost something.

        Args:
            paid_too: Those that it goes on from as well: of a query whose first process could count nothing any more.
        """
        trace = self._trace.emitted
        # What a fork shares, its parent has paid for in any case.
        paid = trace[: shared_with_parent(trace)] if paid_too else self._paid
        return charges_in(trace, paid)

    async def is_whole(self) -> bool:
        """Waits until nothing of it runs here any more; returns True if it is over and stored to the end."""
        await self._trace.stopped()
        return self.is_over and self._trace.recorded

    async def outcome(self) -> Outcome:
        """Returns the answer, once there is one; at worst a statement of what failed.

        Raises:
            SupersededError: Another process has taken the query over, and will answer it.
            NotFoundError: No such trace.
            DecodeError: A newer program writes it.
            BusyError: Some time after its deadline another process has stored no answer.
            TraceStateError: It is not over, and nobody here works on it.
        """
        trace = self._trace
        await trace.closed()
        # A slow append is not a lost one.
        if not trace.recorded:
            await trace.stopped(spare_s(trace.emitted))
        outcome = outcome_of(trace.emitted, recorded=trace.recorded)
        # Counted once, however often the outcome is asked for.
        totals, self._totals = self._totals, None
        if totals is not None and self._paid:
            totals.add_rest(outcome, trace.emitted, self._paid)
        elif totals is not None:
            totals.add(outcome)
        return outcome
