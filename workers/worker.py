"""Works on queries of the queue: claims them, runs each, and when it stops gives back those that do not end in time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog

from antiphon.bus import Session
from antiphon.cluster import (
    Claim,
    ClaimCounts,
    QueryQueue,
    QueuedQuery,
    Signals,
    TraceFollowing,
    Wish,
    WorkerReport,
)
from antiphon.composition import Query
from antiphon.history.history import History
from antiphon.vocabulary.containment import end_task, traceback_of
from antiphon.vocabulary.errors import (
    BusyError,
    NotFoundError,
    ServiceError,
    SupersededError,
    TraceError,
    TraceStateError,
)
from antiphon.workers.claim_renewal import until_lost
from antiphon.workers.live_relay import LiveRelay

log = structlog.get_logger(__name__)

CLAIM_WAITS_S = 1.0
"""Seconds that a worker waits for a query before it checks again whether it can take one."""
REPORT_EVERY_S = 1.0
UNREACHABLE_S = 0.5
"""Seconds between two attempts to reach the queue."""
AGAIN_S = 2.0
"""Seconds until a query whose trace cannot be read or stored now may be claimed again."""
ALONE_FROM = 3
"""From this claim on a query runs alone, so that one which crashes its worker takes no others down. Not from the second
claim on: most workers die of something else, and all their queries would then run one after the other."""
NEWEST = 0.1
"""Weight of the newest query in the mean duration, as in admission.py."""
CLAIMED = "a worker took it from the queue"
DIED = "the worker that had it is gone, or was stopped"
"""The reasons for resuming that are recorded."""

HistoryOf = Callable[[QueuedQuery], History]
"""Returns the recorded queries as the asker of a query sees them, with the tools that the query may use."""


class Worker:
    """The queries that this process works on.

    Args:
        history_of: Returns the history of a query's owner, which resumes the query.
        sessions: The sessions of this process, by query.
        places: Most queries at once.
        most_claims: Claims of one query after which it is given up; it runs alone at least for the last one.
        drain_s: Seconds for queries to end when the worker is stopped.
        can_answer: Called until it returns True: without documents every answer would be that nothing was found.
    """

    def __init__(
        self,
        name: str,
        queue: QueryQueue,
        signals: Signals,
        counts: ClaimCounts | None,
        store: TraceFollowing,
        history_of: HistoryOf,
        sessions: Mapping[str, Session],
        *,
        places: int,
        most_claims: int,
        drain_s: float,
        can_answer: Callable[[], bool] = lambda: True,
    ) -> None:
        self.name = name
        self._queue = queue
        self._signals = signals
        self._counts = counts
        self._history_of = history_of
        self._sessions = sessions
        self._most = places
        self._alone_from = min(ALONE_FROM, max(2, most_claims))
        self._drain_s = drain_s
        self._can_answer = can_answer
        self._answers = False
        self._relay = LiveRelay(store)
        self._running: dict[str, Query] = {}
        self._work: set[asyncio.Task[None]] = set()
        self._alone: asyncio.Task[None] | None = None
        self._free = asyncio.Event()
        self._mean_s: float | None = None
        self._gives_back = False
        self.stopping = asyncio.Event()

    @property
    def ready(self) -> bool:
        """True while it takes queries."""
        return self.answers and self.trouble is None and not self.stopping.is_set()

    @property
    def trouble(self) -> str | None:
        """The reason why nothing can be stored now, in a sentence; None: it can."""
        return self._queue.trouble

    @property
    def answers(self) -> bool:
        """True once there are documents to answer from."""
        if not self._answers:
            self._answers = self._can_answer()
        return self._answers

    @property
    def running(self) -> int:
        """The number of queries that it works on."""
        return len(self._work)

    async def run(self) -> None:
        """Works until it is stopped (`stopping`), and then until its queries are over or given back."""
        await self._signals.hear_wishes(self._on_wish)
        reporting = asyncio.create_task(self._report_always(), name="report")
        try:
            while not self.stopping.is_set():
                await self._take_one()
            await self._drain()
        finally:
            await end_task(reporting)
            await self._relay.close()

    async def _take_one(self) -> None:
        """Takes a query if there is a place; otherwise waits a moment for a place or a query."""
        if len(self._work) >= self._most or self._alone is not None:
            self._free.clear()
            await _first_of(self._free.wait(), self.stopping.wait())
            return
        # Its results would be lost, and the query claimed again and again.
        if not self.answers or self.trouble is not None:
            await _first_of(asyncio.sleep(CLAIM_WAITS_S), self.stopping.wait())
            return
        try:
            claim = await self._queue.claim(CLAIM_WAITS_S)
        except BusyError as error:
            log.warning("queue_not_reached", error=str(error))
            await asyncio.sleep(UNREACHABLE_S)
            return
        if claim is None:
            return
        if self._counts is not None:
            self._counts.claimed(claim.deliveries)
        # A query that must run alone waits for the others to end, and until it is over no further one is taken.
        others: set[asyncio.Task[None]] = set()
        is_alone = claim.deliveries >= self._alone_from
        if is_alone:
            others = set(self._work)
        task = asyncio.create_task(self._hold(claim, others), name="work on a query")
        if is_alone:
            self._alone = task
        self._work.add(task)
        task.add_done_callback(self._forget)

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._work.discard(task)
        if task is self._alone:
            self._alone = None
        if self._counts is not None:
            self._counts.let_go()
        self._free.set()
        error = None if task.cancelled() else task.exception()
        if error is not None:
            log.error("work_failed", exception=traceback_of(error))

    async def _hold(self, claim: Claim, others: set[asyncio.Task[None]]) -> None:
        """Works on a query for as long as the claim lasts; breaks off at once if another worker may have it.

        Args:
            others: The tasks that must end before the query begins.
        """
        query_id = claim.query.query_id
        keeping = asyncio.create_task(until_lost(claim), name="keep a claim")
        working = asyncio.create_task(self._work_on(claim, others), name="go on")
        try:
            await asyncio.wait({keeping, working}, return_when="FIRST_COMPLETED")
            if not working.done():
                # Even if a bug ended the renewal: without it the claim expires.
                log.warning("claim_lost", query_id=query_id)
                if self._counts is not None:
                    self._counts.lost()
                await self._break_off(query_id, working)
                return
            await working
        finally:
            keeping.cancel()

    async def _break_off(self, query_id: str, working: asyncio.Task[None]) -> None:
        session = self._sessions.get(query_id)
        if session is not None:
            session.break_off()
            await session.stopped()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)

    async def _work_on(self, claim: Claim, others: set[asyncio.Task[None]]) -> None:
        query_id = claim.query.query_id
        if others:
            log.warning(
                "query_waits_to_be_alone", query_id=query_id, others=len(others)
            )
            await asyncio.wait(others)
        if self._gives_back:
            await self._leave(claim, 0.0)
            return
        # This worker lost the claim and got it back before the query's session had ended.
        if query_id in self._running:
            await self._leave(claim, AGAIN_S)
            return
        why = DIED if claim.deliveries > 1 else CLAIMED
        try:
            handle = await self._history_of(claim.query).resume(
                query_id, why, counts_away=True
            )
        # It is over, but the queue missed the acknowledgement; or its trace was deleted.
        except (NotFoundError, TraceStateError):
            await self._acknowledge(claim)
            return
        except ServiceError as error:
            log.warning("query_not_resumed", query_id=query_id, error=str(error))
            await self._leave_unread(claim, error)
            return
        self._running[query_id] = handle
        try:
            await self._finish(claim, handle)
        finally:
            del self._running[query_id]

    async def _finish(self, claim: Claim, handle: Query) -> None:
        """Waits for the end of a query, and acknowledges it to the queue if its whole trace is stored."""
        [outcome] = await asyncio.gather(handle.outcome(), return_exceptions=True)
        # Left unacknowledged: another process goes on with the query, or its trace was deleted.
        if isinstance(outcome, SupersededError):
            log.warning("query_superseded", query_id=claim.query.query_id)
            return
        if await handle.is_whole():
            if not isinstance(outcome, BaseException):
                self._note_duration(outcome.duration_ms / 1000)
            await self._acknowledge(claim)
        elif self._gives_back:
            await self._leave(claim, 0.0)
        else:
            log.warning("query_not_stored", query_id=claim.query.query_id)
            await self._pass_on(claim)

    async def _acknowledge(self, claim: Claim) -> None:
        try:
            await claim.done()
        # The next worker to claim it will find it over, and acknowledge it.
        except BusyError as error:
            log.warning(
                "query_not_acknowledged",
                query_id=claim.query.query_id,
                error=str(error),
            )

    async def _leave(self, claim: Claim, delay_s: float) -> None:
        # If this does not get through, the claim expires.
        with contextlib.suppress(BusyError):
            await claim.give_back(delay_s)

    async def _leave_unread(self, claim: Claim, error: ServiceError) -> None:
        """Returns a query that could not be resumed here to the queue.

        If only its trace cannot be read, now or by this perhaps older program, the claim does not count against it.
        """
        if not isinstance(error, TraceError):
            await self._leave(claim, AGAIN_S)
            return
        await self._pass_on(claim)

    async def _pass_on(self, claim: Claim) -> None:
        """Returns a query to the queue without counting the claim: it is not one that crashes workers."""
        # As in `_leave`: otherwise the claim expires.
        with contextlib.suppress(BusyError):
            await claim.pass_on(AGAIN_S)

    async def _drain(self) -> None:
        """Waits for queries to end, and gives back those that have not ended after a while."""
        if self._work:
            log.info("worker_drains", queries=len(self._work), seconds=self._drain_s)
            await asyncio.wait(self._work, timeout=self._drain_s)
        self._gives_back = True
        for query_id in self._running:
            if query_id in self._sessions:
                self._sessions[query_id].break_off()
        if self._work:
            await asyncio.wait(self._work)

    def _on_wish(self, wish: Wish) -> bool:
        handle = self._running.get(wish.query_id)
        if handle is None:
            return False
        if wish.wants == "end":
            handle.cancel(wish.why)
        else:
            self._relay.want(handle)
        return True

    def _note_duration(self, seconds: float) -> None:
        if self._mean_s is None:
            self._mean_s = seconds
        self._mean_s += NEWEST * (seconds - self._mean_s)

    async def _report_always(self) -> None:
        while True:
            report = WorkerReport(
                name=self.name,
                places=self._places(),
                mean_s=self._mean_s,
            )
            await self._signals.report(report)
            await asyncio.sleep(REPORT_EVERY_S)

    def _places(self) -> int:
        """Returns how many queries it can now work on at once."""
        if not self.ready:
            return 0
        if self._alone is not None:
            return 1
        return self._most


async def _first_of(*waits: Coroutine[Any, Any, Any]) -> None:
    """Waits for the first of several, and cancels the others."""
    tasks = list(map(asyncio.create_task, waits))
    try:
        await asyncio.wait(tasks, return_when="FIRST_COMPLETED")
    finally:
        for task in tasks:
            task.cancel()
