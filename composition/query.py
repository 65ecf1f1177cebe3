"""A query as its caller holds it: a growing trace, no matter which process writes it."""

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
        """Yields live text and every event after `after`; ends with the query."""

    def cancel(self, why: str) -> None:
        """Has the query end, with the reason in its trace."""

    async def closed(self) -> None:
        """Waits for the end of the query."""

    async def stopped(self, within_s: float | None = None) -> None:
        """Waits until this process writes nothing more of it, at most for `within_s`."""


class Query:
    """A query, under way or over.

    Args:
        totals: The sums to which its outcome is added; None: to none.
        paid: The recorded events from which a fork or a resumed query goes on; their calls are not counted again.

    Attributes:
        outlives_caller: True if the caller may go away and come back: their leaving does not cancel the query.
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
        """The id of its conversation; empty until the first event was read."""
        for recorded in self._trace.emitted[:1]:
            if isinstance(recorded.event, QueryReceived):
                return recorded.event.session_id
        return ""

    @property
    def is_over(self) -> bool:
        """True once `QueryClosed` is in the trace; a query that was broken off resumes when the service restarts."""
        trace = self._trace.emitted
        return bool(trace) and isinstance(trace[-1].event, QueryClosed)

    def follow(
        self, after: int = 0, buffer: int = 1000
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields live text and every event after `after`; ends with the query.

        Raises:
            NotFoundError: No such trace, or the query has just ended: read its trace.
            SlowReaderError: While reading: the reader fell `buffer` events behind.
        """
        return self._trace.follow(after, buffer)

    def cancel(self, why: str) -> None:
        """Ends the query unless it is over, with the reason in its trace."""
        self._trace.cancel(why)

    def leave(self, why: str) -> None:
        """Cancels the query because its caller goes away, unless it outlives its caller."""
        if not self.outlives_caller:
            self.cancel(why)

    def charges(self, *, paid_too: bool = False) -> list[Charge]:
        """Returns a charge for each call so far that may cost something.

        Args:
            paid_too: Includes the calls before it was resumed, which the first process did not live to count.
        """
        trace = self._trace.emitted
        # The parent of a fork has paid for the events that they share in any case.
        paid = trace[: shared_with_parent(trace)] if paid_too else self._paid
        return charges_in(trace, paid)

    async def is_whole(self) -> bool:
        """Waits until nothing of it runs here any more; returns True if it is over and wholly stored."""
        await self._trace.stopped()
        return self.is_over and self._trace.recorded

    async def outcome(self) -> Outcome:
        """Returns the answer, once there is one; at worst a statement of what failed.

        Raises:
            SupersededError: Another process has taken the query over, and will answer it.
            NotFoundError: No such trace.
            DecodeError: A newer program writes it.
            BusyError: Another process works on it, and has stored no answer some time after its deadline.
            TraceStateError: The query is not over, and this service does not work on it.
        """
        trace = self._trace
        await trace.closed()
        # A slow append may still succeed: the answer should not report a loss that did not happen.
        if not trace.recorded:
            await trace.stopped(spare_s(trace.emitted))
        outcome = outcome_of(trace.emitted, recorded=trace.recorded)
        # Counted once, even if several callers ask for the outcome.
        totals, self._totals = self._totals, None
        if totals is not None and self._paid:
            totals.add_rest(outcome, trace.emitted, self._paid)
        elif totals is not None:
            totals.add(outcome)
        return outcome
