"""The trace of a query that runs in this process or is over."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence

from antiphon.bus import Session
from antiphon.vocabulary.errors import TraceStateError
from antiphon.vocabulary.events import Event, Live, QueryClosed, Recorded
from antiphon.vocabulary.ports import TraceStore


class LocalTrace:
    """A trace by its id: a running session's if there is one, else the stored one.

    Satisfies `composition.GrowingTrace`.
    """

    def __init__(
        self, query_id: str, sessions: Mapping[str, Session], store: TraceStore
    ) -> None:
        self.query_id = query_id
        self._sessions = sessions
        self._store = store
        self._session = self._running()
        self._stored: Sequence[Recorded[Event]] = ()

    def _running(self) -> Session | None:
        session = self._sessions.get(self.query_id)
        # A session that is over has ended its followers, and either all of it is stored or the rest never will be.
        if session is None or session.over:
            return None
        return session

    @property
    def emitted(self) -> Sequence[Recorded[Event]]:
        if self._session is not None:
            return self._session.emitted
        return self._stored

    @property
    def recorded(self) -> bool:
        return self._session is None or self._session.recorded

    async def follow(
        self, after: int = 0, buffer: int = 1000
    ) -> AsyncGenerator[Recorded[Event] | Live, None]:
        """Yields all events after one of them, and text as it is written; ends with the query.

        Raises:
            NotFoundError: No such trace.
            SlowReaderError: While reading: the reader fell `buffer` events behind.
        """
        session = self._running()
        if session is not None:
            async for item in session.follow(after, buffer):
                yield item
            return
        for recorded in await self._store.read(self.query_id, after):
            yield recorded

    def cancel(self, why: str) -> None:
        """Ends the query if it runs here."""
        if self._session is not None:
            self._session.cancel(why)

    async def closed(self) -> None:
        """Waits for the end of the query.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: It is not over, but does not run here.
            SupersededError: Another process has taken it over.
        """
        if self._session is not None:
            await self._session.closed()
            return
        self._stored = await self._store.read(self.query_id)
        if not isinstance(self._stored[-1].event, QueryClosed):
            raise TraceStateError(
                f"query {self.query_id} is not over, and is not being worked on here: resume it"
            )

    async def stopped(self, within_s: float | None = None) -> None:
        """Waits until nothing of it runs here any more, or for `within_s` seconds."""
        if self._session is not None:
            await self._session.stopped(within_s)
