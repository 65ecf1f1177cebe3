"""Traces as one tenant sees them, to whom other tenants' traces do not exist, or as a caller sees them who sees all."""

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
    """Reads traces. Methods raise NotFoundError for a trace that does not exist, and TraceError without the servers.

    Args:
        tenant: The tenant whose traces exist; None: those of all.
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
        """Returns the tenant of a trace, any tenant; None if it does not exist."""
        try:
            first = await self._log.first(query_id)
        except NotFoundError:
            return None
        return tenant_of(first.headers)

    async def check(self, query_id: str) -> None:
        """Refuses another tenant's trace. For a caller who sees everything this reads nothing."""
        if self._tenant is not None:
            self._check_seen(query_id, await self._log.first(query_id))

    async def read(self, query_id: str) -> StoredTrace:
        """Reads a whole trace. Raises DecodeError for a message that is not ours."""
        return await self._up_to(query_id, await self._log.last(query_id))

    async def told(self, query_id: str, tell: Callable[[StoredTrace], T]) -> T:
        """Reads a trace, and returns the result of `tell`, which runs in a thread if the trace is large."""
        trace = await self.read(query_id)
        return await decoded(partial(tell, trace), trace.size_bytes)

    async def events(self, query_id: str, after: int) -> list[Recorded[Event]]:
        """Reads the events with `seq` > `after`. Raises DecodeError as `StoredTrace.events` does."""
        return await self._events_of(await self.read(query_id), after)

    async def take_over(self, query_id: str) -> list[Recorded[Event]]:
        """Reads an unfinished trace in order to go on with it; this process's next append locks out earlier writers.

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
        """Reads the last append to a trace that is over; returns nothing for one that is not.

        Args:
            last: Its last message, if it came with the announcement of the end.
        """
        await self.check(query_id)
        if last is None:
            last = await self._log.last(query_id)
        if not is_closed(last):
            return ()
        try:
            return await self._events_of(await self._reader.trace_of(query_id, [last]))
        # The message refers to a long text of an earlier append, or is not one of ours.
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
