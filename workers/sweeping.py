"""Looks for queries that no worker would reach: those that are in no queue, and those that crash workers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from antiphon.cluster import (
    ClaimCounts,
    DeadClaim,
    QueryQueue,
    QueuedQuery,
)
from antiphon.composition import GIVEN_UP
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.errors import NotFoundError, ServiceError, TraceStateError
from antiphon.vocabulary.events import QueryCancelled
from antiphon.vocabulary.ports import Ownership
from antiphon.workers.worker import HistoryOf

log = structlog.get_logger(__name__)

DEAD_EVERY_S = 1.0
"""Seconds between two sweeps for queries that were claimed too often."""
UNQUEUED_CLAIMS = 3.0
"""Lifetimes of a claim between two looks for traces in no queue, which the death of an API node leaves behind."""

TenantOf = Callable[[str], Awaitable[str | None]]


class Sweeper:
    """The sweeps of one worker; several workers may sweep at once.

    Args:
        history_of: Returns the history of a query's owner, with which the query is ended.
        ownership: Finds open traces that nobody works on and that are in no queue.
        tenant_of: Returns the tenant of a trace.
        claim_s: Seconds for which a claim lasts.
    """

    def __init__(
        self,
        queue: QueryQueue,
        counts: ClaimCounts | None,
        history_of: HistoryOf,
        ownership: Ownership,
        tenant_of: TenantOf,
        claim_s: float,
    ) -> None:
        self._queue = queue
        self._counts = counts
        self._history_of = history_of
        self._ownership = ownership
        self._tenant_of = tenant_of
        self._unqueued_every_s = UNQUEUED_CLAIMS * claim_s

    async def run(self) -> None:
        """Sweeps until it is cancelled; the next sweep repeats what failed."""
        async with asyncio.TaskGroup() as looks:
            looks.create_task(self._every(DEAD_EVERY_S, self.give_up_dead))
            looks.create_task(
                self._every(self._unqueued_every_s, self.queue_unfinished)
            )

    async def queue_unfinished(self) -> None:
        """Puts open traces that are in no queue into it."""
        for query_id in await self._ownership.unfinished():
            tenant = await self._tenant_of(query_id)
            log.warning("query_queued_again", query_id=query_id)
            await self._queue.submit(
                QueuedQuery(query_id=query_id, tenant=tenant or LOCAL_TENANT)
            )

    async def give_up_dead(self) -> None:
        """Ends queries that were claimed too often, without repeating their interrupted requests."""
        while True:
            dead = await self._queue.next_dead()
            if dead is None:
                return
            await self._give_up(dead)

    async def _give_up(self, dead: DeadClaim) -> None:
        query_id = dead.query.query_id
        why = (
            f"{GIVEN_UP}{dead.deliveries} times a worker took it and did not end it, as happens when a tool ends the "
            "process that it runs in"
        )
        log.error("query_given_up", query_id=query_id, deliveries=dead.deliveries)
        try:
            ended = await self._history_of(dead.query).end(
                query_id, why, QueryCancelled(why=why)
            )
            # If the end is not stored, the worker that gets this query next tries again.
            if not await ended.is_whole():
                return
        # The query is over after all, or its trace was deleted.
        except (NotFoundError, TraceStateError):
            pass
        await dead.bury()
        if self._counts is not None:
            self._counts.given_up()

    async def _every(self, seconds: float, look: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                # Sweeping is useless while the ends of queries cannot be stored.
                if self._queue.trouble is None:
                    await look()
            except ServiceError as error:
                log.warning("sweep_failed", error=str(error))
            # Up to Python 3.11, `wait_for` in the NATS client may swallow a cancellation, and a task group asks once.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError
            await asyncio.sleep(seconds)
