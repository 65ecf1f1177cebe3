"""A query under way, as its caller has it."""

from __future__ import annotations

from collections.abc import AsyncIterator

from antiphon.bus import Session
from antiphon.composition.caller import Caller, Outcome
from antiphon.composition.totals import Totals
from antiphon.vocabulary.events import Event, Live, QueryCancelled, Recorded


class QueryHandle:
    """A query under way."""

    def __init__(
        self,
        session: Session,
        caller: Caller,
        session_id: str,
        totals: Totals | None = None,
    ) -> None:
        self.query_id = session.query_id
        self.session_id = session_id
        self._session = session
        self._caller = caller
        self._totals = totals

    def follow(self, buffer: int = 1000) -> AsyncIterator[Recorded[Event] | Live]:
        """Every event from the first, live, with text as it is written; ends with the query.

        Raises:
            NotFoundError: The query has ended.
            SlowReaderError: While reading: the reader fell too far behind.
        """
        return self._session.follow(buffer)

    def cancel(self, why: str) -> None:
        """Ends the query; its trace says why."""
        self._session.publish(QueryCancelled(why=why))

    async def outcome(self) -> Outcome:
        """The answer, once there is one; at worst a statement of what failed."""
        await self._session.closed()
        if not self._caller.heard_all:
            self._caller.hear_again(self._session.emitted)
        outcome = self._caller.outcome(self.query_id, self.session_id, recorded=self._session.recorded)
        self._count(outcome)
        return outcome

    def _count(self, outcome: Outcome) -> None:
        """Adds to the service's sums, however often the outcome is asked for."""
        if self._totals is not None:
            self._totals.add(outcome)
            self._totals = None
