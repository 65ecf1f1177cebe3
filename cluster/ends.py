"""The ends of queries: the process that stores one announces it, so that others need not follow the trace."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from weakref import WeakValueDictionary

import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from antiphon.cluster.connection import Cluster
from antiphon.cluster.messages import Packed, is_closed
from antiphon.cluster.stream_reading import StoredMessage, as_trace_errors

log = structlog.get_logger(__name__)

MOST_BYTES = 32 * 1024
"""A larger last append is not sent along: a process that waits for it reads it from the trace."""


class End:
    """The end of one trace, for which this process waits."""

    def __init__(self) -> None:
        self._message: StoredMessage | None = None
        self._told = asyncio.Event()

    def tell(self, message: StoredMessage) -> None:
        self._message = message
        self._told.set()

    async def wait(self, seconds: float) -> StoredMessage | None:
        """Waits until this process learns of the end, at most for so many seconds.

        Returns:
            The trace's last message; None if it was not sent along, is not one of ours, or no end was announced.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._told.wait()
        message = self._message
        # A stranger may have announced the end of a query that goes on: then the true announcement is still to come.
        self._message = None
        self._told.clear()
        if message is None or not message.data or not is_closed(message):
            return None
        return message


class Ends:
    """The ends for which this process waits."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._hears = False
        # Weak: an end is kept only as long as somebody waits for it.
        self._ends: WeakValueDictionary[str, End] = WeakValueDictionary()

    async def of(self, query_id: str) -> End:
        """Returns the end of a trace; this process hears announcements of it from now on.

        Raises:
            TraceError: There is no connection.
        """
        # Subscribed at the first wait: a worker, which never waits, need not receive the ends of all queries.
        if not self._hears:
            with as_trace_errors("hear of the ends of queries"):
                await self._cluster.client.subscribe(
                    self._cluster.naming.ends, cb=self._hear
                )
            self._hears = True
        return self._ends.setdefault(self._cluster.naming.end(query_id), End())

    async def _hear(self, message: Msg) -> None:
        end = self._ends.get(message.subject)
        if end is not None:
            headers = message.headers or {}
            end.tell(StoredMessage(message.subject, 0, headers, message.data, 0.0))


async def tell_end(cluster: Cluster, query_id: str, packed: Packed | None) -> None:
    """Announces to all processes that a query is over, once its end is stored; one that misses it looks at the trace.

    Args:
        packed: The last append; None if its stored form is not known.
    """
    headers: dict[str, str] | None = None
    data = b""
    if packed is not None and len(packed.data) <= MOST_BYTES:
        headers = packed.headers
        data = packed.data
    try:
        await cluster.client.publish(
            cluster.naming.end(query_id), data, headers=headers
        )
    except (NatsError, ConnectionError) as error:
        log.debug("end_not_told", error=str(error) or type(error).__name__)
