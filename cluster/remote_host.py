"""The acting process's side: performs the requests of each query that comes, and sends back the events."""

from __future__ import annotations

import asyncio
import re
import secrets
from contextlib import suppress

import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from antiphon.cluster import remote_frames as frames
from antiphon.cluster.connection import Cluster
from antiphon.cluster.remote_link import BEATS
from antiphon.cluster.remote_work import BuildOutside, HostedQuery
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import DecodeError, RemoteError

log = structlog.get_logger(__name__)

SILENT_LEASES = 3
"""After so many lease times without a sign of life a session is gone, and work for it stops."""
LEAVING_S = 30.0
"""Seconds that work under way may take to end when the process should stop."""


class RemoteHost:
    """Performs requests of one kind, as one of several processes that do.

    Args:
        room: The part that it acts as, such as `dispatcher`.
        build: Builds the outside of one query.
        catalog: All events that may come.
    """

    def __init__(
        self, cluster: Cluster, room: str, build: BuildOutside, catalog: Catalog
    ) -> None:
        self._cluster = cluster
        self._client = cluster.client
        self._room = room
        self._build = build
        self._catalog = catalog
        self._subject = f"{cluster.naming.acting(room)}.at.{secrets.token_hex(12)}"
        self._inbox = re.compile(
            rf"{re.escape(cluster.naming.acting(room))}\.to\.[0-9a-f]+"
        )
        self._queries: dict[str, HostedQuery] = {}
        self._offering: list[Subscription] = []
        self._outbox: asyncio.Queue[tuple[str, frames.Frame]] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def queries(self) -> int:
        """The number of queries for which this process acts."""
        return len(self._queries)

    async def start(self) -> None:
        """Begins to take queries."""
        await self._client.subscribe(self._subject, cb=self._on_message)
        beginning = self._cluster.naming.acting(self._room)
        # `any` reaches one process of the group; `all` is for sessions that got no answer from that one.
        self._offering = [
            await self._client.subscribe(
                f"{beginning}.any", queue=self._room, cb=self._offer
            ),
            await self._client.subscribe(f"{beginning}.all", cb=self._offer),
        ]
        # After the flush every session that looks for a process finds this one.
        await self._client.flush()
        self._tasks = [
            asyncio.create_task(self._deliver(), name="deliver to sessions"),
            asyncio.create_task(self._beat(), name="signs of life"),
        ]

    async def leave(self, within_s: float = LEAVING_S) -> None:
        """Takes no more queries, lets work under way end, and tells the sessions to look for another process."""
        for subscription in self._offering:
            await subscription.unsubscribe()
        until = asyncio.get_running_loop().time() + within_s
        while asyncio.get_running_loop().time() < until:
            if not any(query.busy for query in self._queries.values()):
                break
            await asyncio.sleep(0.05)
        for query in list(self._queries.values()):
            query.tell(frames.Gone, why="the process stops")
            self._drop(query)
        await self._outbox.join()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _offer(self, message: Msg) -> None:
        await message.respond(frames.encode(frames.Offer(subject=self._subject)))

    async def _on_message(self, message: Msg) -> None:
        try:
            frame = frames.read_to_process(message.data)
        except RemoteError as error:
            log.warning("remote_message_refused", room=self._room, error=str(error))
            return
        query = self._queries.get(frame.lease)
        if (
            query is None
            and isinstance(frame, frames.Begin)
            and self._inbox.fullmatch(frame.reply_to)
        ):
            query = HostedQuery(
                frame, self._catalog, self._enqueue, self._client.max_payload
            )
            self._queries[frame.lease] = query
        # A message about a query that was dropped here: without an answer the session looks for another process.
        if query is None:
            return
        query.heard_at = asyncio.get_running_loop().time()
        query.received += 1
        try:
            if frame.number != query.received:
                raise RemoteError("a message was lost on its way")
            await self._take(query, frame)
        except Exception as error:  # noqa: BLE001 - a failure of one query must not stop the others
            why = f"{type(error).__name__}: {error}"[: frames.MOST_WORDS]
            log.warning("remote_query_refused", room=self._room, error=why)
            query.tell(frames.Gone, why=why)
            self._drop(query)

    async def _take(self, query: HostedQuery, frame: frames.ToProcess) -> None:
        if isinstance(frame, frames.Begin):
            query.outside = await self._build(frame.place, query.ports())
            query.tell(frames.Alive)
        elif isinstance(frame, frames.End):
            self._drop(query)
        elif isinstance(frame, frames.Recall | frames.Perform | frames.Abandon):
            try:
                query.take(frame)
            except DecodeError as error:
                raise RemoteError(
                    f"an event cannot be read ({error}): are the same subscribers loaded?"
                ) from error

    def _drop(self, query: HostedQuery) -> None:
        query.stop()
        self._queries.pop(query.lease, None)

    def _enqueue(self, subject: str, frame: frames.Frame) -> None:
        self._outbox.put_nowait((subject, frame))

    async def _deliver(self) -> None:
        while True:
            subject, frame = await self._outbox.get()
            try:
                # If a message does not get through, the session notices the gap in their numbers.
                with suppress(NatsError, OSError):
                    await self._client.publish(subject, frames.encode(frame))
            finally:
                self._outbox.task_done()

    async def _beat(self) -> None:
        """Sends signs of life to sessions, and drops queries whose session is gone."""
        pause_s = 0.1
        while True:
            await asyncio.sleep(pause_s)
            now = asyncio.get_running_loop().time()
            for query in list(self._queries.values()):
                pause_s = min(1.0, query.lease_s / BEATS)
                if now - query.heard_at > query.lease_s * SILENT_LEASES:
                    log.warning("remote_session_gone", room=self._room)
                    self._drop(query)
                else:
                    query.tell(frames.Alive)
