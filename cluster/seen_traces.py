"""Traces as one tenant sees them, or as whoever sees all does: another's are not there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from antiphon.cluster.decoding import T, decoded
from antiphon.cluster.ends import End
from antiphon.cluster.messages import is_closed, tenant_of
from antiphon.cluster.stream_reading import StoredMessage
from antiphon.cluster.trace_log import TraceLog
from antiphon.cluster.trace_reading import StoredTrace, TraceReader
from antiphon.traces import unknown_trace
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import DecodeError, NotFoundError, TraceStateError
from antiphon.vocabulary.events import Event, QueryClosed, Recorded


class SeenTraces:
    """Reads traces. Each method raises NotFoundError for one that is not there, and TraceError without the servers.

    Args:
        tenant: Whose traces are seen; None: everybody's.
    """

    def __init__(
        self, log: TraceLog, reader: TraceReader, catalog: Catalog, tenant: str | None
    ) -> None:
        self._log = log
        self._reader = reader
        self._catalog = catalog
        self._tenant = tenant

    def seen_by(self, tenant: str) -> SeenTraces:
        """Returns the traces as a tenant sees them."""
        return SeenTraces(self._log, self._reader, self._catalog, tenant)

    async def tenant_of(self, query_id: str) -> str | None:
        """Returns whose trace it is, whoever that is; None if it is not there."""
        try:
            first = await self._log.first(query_id)
        except NotFoundError:
            return None
        return tenant_of(first.headers)

    async def check(self, query_id: str) -> None:
        """Refuses another tenant's trace; who sees everything needs no look at its first message."""
        if self._tenant is not None:
            self._check_seen(query_id, await self._log.first(query_id))

    async def read(self, query_id: str) -> StoredTrace:
        """Reads a trace whole. Raises DecodeError for a message that is none of ours."""
        return await self._up_to(query_id, await self._log.last(query_id))

    async def told(self, query_id: str, tell: Callable[[StoredTrace], T]) -> T:
        """Reads a trace, and returns what is to be told of it."""
        trace = await self.read(query_id)
        return await decoded(partial(tell, trace), trace.size_bytes)

    async def events(self, query_id: str, after: int) -> list[Recorded[Event]]:
        """Reads the events with `seq` > `after`. Raises DecodeError as `StoredTrace.events` does."""
        return await self._events_of(await self.read(query_id), after)

    async def take_over(self, query_id: str) -> list[Recorded[Event]]:
        """Reads the events of a trace that is not over; who appended to it until now is refused from then on.

        Raises:
            TraceStateError: It is over.
        """
        last = await self._log.last(query_id)
        trace = await self._up_to(query_id, last)
        if is_closed(last):
            raise TraceStateError(
                f"query {query_id} is over: there is nothing to go on with"
            )
        events = await self._events_of(trace)
        self._log.remember(query_id, last)
        return events

    async def ending(
        self, query_id: str, last: StoredMessage | None
    ) -> Sequence[Recorded[Event]]:
        """Reads the last append to a trace that is over; nothing of one that is not.

        Args:
            last: Its last message, if that was told.
        """
        await self.check(query_id)
        if last is None:
            last = await self._log.last(query_id)
        if not is_closed(last):
            return ()
        try:
            return await self._events_of(await self._reader.trace_of(query_id, [last]))
        # It refers to a long text that an earlier append holds, or what was told is none of ours.
        except DecodeError:
            events = await self.events(query_id, 0)
        if isinstance(events[-1].event, QueryClosed):
            return events
        return ()

    async def _up_to(self, query_id: str, last: StoredMessage) -> StoredTrace:
        messages = await self._log.up_to(query_id, last)
        self._check_seen(query_id, messages[0])
        return await self._reader.trace_of(query_id, messages)

    async def _events_of(
        self, trace: StoredTrace, after: int = 0
    ) -> list[Recorded[Event]]:
        return await decoded(
            partial(trace.events, after, self._catalog), trace.size_bytes
        )

    def _check_seen(self, query_id: str, first: StoredMessage) -> None:
        if self._tenant not in (None, tenant_of(first.headers)):
            raise unknown_trace(query_id)


class SeenEnd:
    """The end of one trace; satisfies `TraceEnd`."""

    def __init__(self, traces: SeenTraces, query_id: str, end: End) -> None:
        self._traces = traces
        self._query_id = query_id
        self._end = end

    async def within(self, seconds: float) -> Sequence[Recorded[Event]]:
        last = await self._end.wait(seconds)
        return await self._traces.ending(self._query_id, last)
