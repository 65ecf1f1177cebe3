"""Follows a trace: first its stored events, then new ones as the stream passes them on, with live text among them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator
from functools import partial

import msgspec
import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from antiphon.cluster.connection import Cluster
from antiphon.cluster.decoding import decoded
from antiphon.cluster.messages import seqs_of
from antiphon.cluster.stream_reading import StoredMessage, as_trace_errors
from antiphon.cluster.trace_log import TraceLog
from antiphon.cluster.trace_reading import StoredTrace, TraceReader, unpacked
from antiphon.traces import Unpacker, to_json
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import DecodeError, TraceError
from antiphon.vocabulary.events import Event, Live, QueryClosed, Recorded
from antiphon.vocabulary.typed import prepared

log = structlog.get_logger(__name__)

LOOK_AGAIN_S = 5.0
"""Seconds without news after which a reader looks at the trace: messages may have been lost on the way."""
MOST_FAILED_LOOKS = 12
"""Failed looks after which the reader gets the error; each takes `LOOK_AGAIN_S` and the time limit of a request."""
AFTER = "Antiphon-After"
_MOST_WAITING = 10_000
"""The most messages that wait to be read, and live texts that wait for their event; events repeat all live text."""

_live_decoder: msgspec.json.Decoder[Live] = msgspec.json.Decoder(prepared(Live))

Item = Recorded[Event] | Live


async def emit_live(cluster: Cluster, query_id: str, after: int, live: Live) -> None:
    """Sends followers live text, which is not stored.

    Args:
        after: The `seq` of the event after which it comes.

    Raises:
        TraceError: There is no connection.
    """
    with as_trace_errors("send live text"):
        await cluster.client.publish(
            cluster.naming.deltas(query_id),
            to_json(live),
            headers={AFTER: str(after)},
        )


class Following:
    """One reader of one trace; made for one use.

    Args:
        after: The `seq` of the last event that the reader has.
    """

    def __init__(
        self,
        cluster: Cluster,
        trace_log: TraceLog,
        reader: TraceReader,
        catalog: Catalog,
        query_id: str,
        after: int,
    ) -> None:
        self._cluster = cluster
        self._log = trace_log
        self._reader = reader
        self._query_id = query_id
        self._after = after
        self._seen = 0
        self._closed = False
        self._failed_looks = 0
        self._texts: dict[str, str] = {}
        self._unpacker = Unpacker(self._texts.get, catalog)
        self._news: asyncio.Queue[Msg] = asyncio.Queue()
        self._waiting: deque[tuple[int, Live]] = deque(maxlen=_MOST_WAITING)

    async def items(self) -> AsyncIterator[Item]:
        """Yields events and live texts until `QueryClosed`.

        Raises:
            NotFoundError: No such trace.
            DecodeError: An event is of an unknown kind, version or shape.
            TraceError: The servers do not answer.
        """
        # Subscribed before the first read: an event that is stored in between then comes twice rather than never.
        with as_trace_errors("follow a trace"):
            client = self._cluster.client
            naming = self._cluster.naming
            stored = await client.subscribe(naming.live(self._query_id), cb=self._hear)
            live = await client.subscribe(naming.deltas(self._query_id), cb=self._hear)
        try:
            for item in await self._stored():
                yield item
            while not self._closed:
                for item in await self._next():
                    yield item
        finally:
            for subscription in (stored, live):
                try:
                    await subscription.unsubscribe()
                except NatsError as error:
                    log.debug("nats_not_unsubscribed", error=str(error))

    async def _hear(self, message: Msg) -> None:
        # Dropping messages is safe: a reader so slow sees the gap in their numbers, and reads the trace again.
        if self._news.qsize() < _MOST_WAITING:
            self._news.put_nowait(message)

    async def _next(self) -> list[Item]:
        """Waits for the next message and returns the items that are now due."""
        try:
            async with asyncio.timeout(LOOK_AGAIN_S):
                message = await self._news.get()
        except TimeoutError:
            return await self._look_again()
        if message.subject == self._cluster.naming.deltas(self._query_id):
            return self._live(message)
        return await self._passed_on(message)

    async def _passed_on(self, message: Msg) -> list[Item]:
        """Returns the events of a newly stored message or, after a gap, all stored events that are new."""
        headers = message.headers or {}
        stored = StoredMessage(message.subject, 0, headers, message.data, 0.0)
        first, last = seqs_of(stored)
        if last <= self._seen:
            return []
        if first != self._seen + 1:
            return await self._look_again()
        return await self._taken([stored])

    async def _look_again(self) -> list[Item]:
        """Reads the trace if it has grown unnoticed; servers that are unavailable for a while do not end a reader.

        Raises:
            TraceError: The servers have been unavailable for too long.
        """
        try:
            head = await self._log.head(self._query_id)
            items = [] if head.seq == self._seen else await self._stored()
        except DecodeError:
            raise
        except TraceError:
            self._failed_looks += 1
            if self._failed_looks > MOST_FAILED_LOOKS:
                raise
            return []
        self._failed_looks = 0
        return items

    async def _stored(self) -> list[Item]:
        """Reads the trace and returns its new events."""
        return await self._taken(await self._log.read(self._query_id))

    async def _taken(self, messages: list[StoredMessage]) -> list[Item]:
        new = [each for each in messages if seqs_of(each)[1] > self._seen]
        trace = await self._reader.trace_of(self._query_id, new, self._texts.get)
        self._texts.update(trace.texts)
        items: list[Item] = []
        for recorded in await decoded(
            partial(self._events_of, trace), trace.size_bytes
        ):
            # A message repeats an event: it is not one of ours.
            if recorded.seq <= self._seen:
                continue
            self._seen = recorded.seq
            if recorded.seq > self._after:
                items.append(recorded)
            items += self._due()
            self._closed = isinstance(recorded.event, QueryClosed)
        return items

    def _events_of(self, trace: StoredTrace) -> list[Recorded[Event]]:
        """Decodes the new events."""
        new = [row for row in trace.rows if row.seq > self._seen]
        return [unpacked(self._unpacker, row) for row in new]

    def _live(self, message: Msg) -> list[Item]:
        after = (message.headers or {}).get(AFTER, "")
        try:
            live = _live_decoder.decode(message.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            log.warning("live_text_not_read", error=str(error))
            return []
        if not after.isdecimal():
            return []
        self._waiting.append((int(after), live))
        return list(self._due())

    def _due(self) -> Iterator[Live]:
        """Yields, in order of arrival, the live texts that come after events already seen."""
        while self._waiting and self._waiting[0][0] <= self._seen:
            yield self._waiting.popleft()[1]
