"""A query that was begun before, as its caller would hold it: for a request that is sent again."""

from __future__ import annotations

from collections.abc import AsyncIterator

from antiphon.composition import Caller, Outcome
from antiphon.history import History
from antiphon.vocabulary.errors import SlowReaderError, TraceStateError
from antiphon.vocabulary.events import Event, Live, QueryReceived, Recorded
from antiphon.vocabulary.ports import TraceStore


class RecordedQuery:
    """A query of this service that may be over already, or still run in this process.

    Attributes:
        session_id: Its conversation; empty until its outcome is known.
    """

    def __init__(self, query_id: str, history: History, store: TraceStore) -> None:
        self.query_id = query_id
        self.session_id = ""
        self._history = history
        self._store = store

    def follow(self) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields every event, those that are stored first. Raises as `History.follow` does."""
        return self._history.follow(self.query_id)

    async def outcome(self) -> Outcome:
        """Returns the answer, once there is one.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: The query is not over, and nobody here works on it.
        """
        while True:
            try:
                async for _ in self.follow():
                    pass
            # A reader that is cut off for slowness goes on with what is stored meanwhile.
            except SlowReaderError:
                continue
            break
        events = await self._store.read(self.query_id)
        caller = Caller()
        caller.recall(events)
        if not caller.heard_all:
            raise TraceStateError(
                f"query {self.query_id} is not over, and is not being worked on here: resume it"
            )
        first = events[0].event
        if isinstance(first, QueryReceived):
            self.session_id = first.session_id
        return caller.outcome(
            self.query_id, self.session_id, trace=events, recorded=True
        )

    def cancel(self, _: str) -> None:
        """Changes nothing: whoever asked again may go away, and the query is its first caller's."""
