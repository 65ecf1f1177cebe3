"""The trace of a query that a worker in another process writes, for the process that was asked."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Sequence,
)
from contextlib import aclosing
from typing import Any

import structlog

from antiphon.bus import Pending, PendingTable, fold_pending
from antiphon.cluster import FollowedStore, TraceEnd
from antiphon.composition import EndQuery
from antiphon.coordinator import alarms
from antiphon.vocabulary.errors import (
    BusyError,
    DecodeError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.ports import Clock

log = structlog.get_logger(__name__)

GRACE_S = 1.0
"""Seconds after its deadline at which this process takes a query over: a living worker has answered by then."""
LATE_S = 1.75
"""Seconds after its deadline at which a caller without a stored answer gets an error, to arrive within two seconds."""
AGAIN_S = 5.0
"""Seconds until the next attempt to take over a query whose end could not be stored; doubles each time."""
MOST_AGAIN_S = 60.0
COME_AGAIN_S = 5.0
"""Seconds after which a caller who got that error may look for the answer."""
LOOK_AGAIN_S = 5.0
"""Seconds after which to read a trace whose end was not announced: the announcement may have got lost."""
PAUSE_S = 0.5
"""Seconds between two attempts to read a trace while its store cannot be reached."""
LATE = "its deadline passed, and no worker had answered it"
"""Recorded as the reason when the process that was asked takes a query over."""

Streamed = AsyncGenerator[Recorded[Event] | Live, None]


class SharedTrace:
    """The trace of a query that any node works on, or of one that is over. Satisfies `composition.GrowingTrace`.

    The process that ends the query announces the end, and this one then reads as much of the trace as the answer needs.
    A follower reads the whole.

    Args:
        trouble: Returns why nothing can be stored now, in a sentence; None: it can.
        begun: The beginning of its trace, and the announcement of its end; None: it was begun elsewhere.
        is_counted: The ledger needs the cost of its calls: when it is over its trace is read whole.
    """

    def __init__(
        self,
        query_id: str,
        store: FollowedStore,
        trouble: Callable[[], str | None],
        end: EndQuery,
        clock: Clock,
        begun: tuple[Recorded[Event], TraceEnd] | None,
        *,
        is_counted: bool,
        follow: Callable[[str, int], Streamed],
        cancel: Callable[[str, str], None],
        removed: Callable[[str], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> None:
        self.query_id = query_id
        self._store = store
        self._trouble = trouble
        self._end_query = end
        self._clock = clock
        self._is_counted = is_counted
        self._follow = follow
        self._cancel = cancel
        self._removed = removed
        self._spawn = spawn
        self._events: list[Recorded[Event]] = []
        self._ending: Sequence[Recorded[Event]] = ()
        self._owed: PendingTable = {}
        # If its trace cannot be read, its deadline is unknown, and nobody waits longer than this.
        self._tell_at = clock.now() + LATE_S
        self._tell_by = float("inf")
        self._take_over_at = float("inf")
        self._again_s = AGAIN_S
        self._was_told_later = False
        self._watching: asyncio.Task[None] | None = None
        self._end: TraceEnd | None = None
        if begun is not None:
            first, self._end = begun
            self._note(first)

    async def follow(
        self, after: int = 0, buffer: int = 0
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields all events after one of them, and text as it is written.

        Ends with the query, or when `closed` raises that there is no answer.

        Args:
            buffer: Makes no difference: unread events wait at the servers.
        """
        del buffer
        self.watch()
        async with aclosing(self._follow(self.query_id, after)) as items:
            while True:
                item = await self._next_of(items)
                if item is None:
                    return
                yield item

    def cancel(self, why: str) -> None:
        """Has the query ended, unless it is over or past its deadline, which ends it anyway; its trace says why."""
        # A caller who got an error and may look for the answer later has not gone away.
        if not self.is_over and not self._was_told_later and self._left_s() > 0:
            self._cancel(self.query_id, why)

    @property
    def is_over(self) -> bool:
        """True once the part of its trace that was read here says so."""
        return bool(self._ending)

    @property
    def emitted(self) -> Sequence[Recorded[Event]]:
        """The events that were read here."""
        # The announced end may come without the events between, which are read only if they are needed.
        if not self._ending or isinstance(self._events[-1].event, QueryClosed):
            return self._events
        return [*self._events, *self._ending]

    @property
    def recorded(self) -> bool:
        """True: events that come from the store are stored."""
        return True

    def pending(self) -> tuple[Pending, ...]:
        """Returns what the query waits for, by the part of its trace that was read here."""
        owed = self._owed.values()
        return tuple(sorted(owed, key=lambda pending: pending.since_seq))

    async def look(self) -> None:
        """Reads the new events of its trace; changes nothing if the store cannot be reached."""
        try:
            await self._read_on()
        except ServiceError as error:
            log.debug("query_not_read", query_id=self.query_id, error=str(error))

    async def stopped(self, within_s: float | None = None) -> None:
        """Returns at once: this process writes nothing of it."""
        del within_s

    async def closed(self) -> None:
        """Waits for the end of the query.

        Raises:
            NotFoundError: No such trace.
            DecodeError: A newer program writes it.
            BusyError: No end is stored `LATE_S` after its deadline.
        """
        watching = self.watch()
        # If the caller is cancelled, the watching goes on.
        await self._before_late(watching)
        if not watching.done():
            self._was_told_later = True
            raise BusyError(
                f"Question {self.query_id} has no answer that is stored by its deadline. "
                f"{self._trouble() or 'It is being ended.'} Once it has ended, GET /api/queries/{self.query_id} says "
                "how.",
                COME_AGAIN_S,
            )
        watching.result()

    def watch(self) -> asyncio.Task[None]:
        """Begins to wait for its end, unless that has begun; the task's exception is for those who wait for the end."""
        if self._watching is None:
            self._watching = self._spawn(self._watch(), "watch a query")
        return self._watching

    def tell_by(self, at: float) -> None:
        """Sets the latest time for the caller's answer or error, no matter how long it took to begin the query."""
        self._tell_by = at

    async def _before_late(self, awaited: asyncio.Future[Any]) -> None:
        """Waits for a future, but not past the time at which the caller must get an error, even if the store hangs."""
        # Computed again after each wait, because a resumption read meanwhile moves the deadline.
        while not awaited.done():
            left_s = min(self._tell_at, self._tell_by) - self._clock.now()
            if left_s <= 0:
                return
            await asyncio.wait({awaited}, timeout=left_s)

    async def _next_of(self, items: Streamed) -> Recorded[Event] | Live | None:
        """Returns the next item; None if there is none by the time at which the caller must get an error."""

        async def next_one() -> Recorded[Event] | Live | None:
            return await anext(items, None)

        coming = asyncio.create_task(next_one())
        try:
            await self._before_late(coming)
            if coming.done():
                return coming.result()
            return None
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)

    async def _watch(self) -> None:
        """Waits for the end; if the deadline passes without one, ends the query here."""
        while not self.is_over:
            try:
                await self._wait()
            # This program will never be able to read a newer one's trace: another node has its answer.
            except (NotFoundError, DecodeError):
                raise
            # A store that cannot be reached may be back in a moment.
            except ServiceError as error:
                log.warning("query_not_read", query_id=self.query_id, error=str(error))
                await asyncio.sleep(PAUSE_S)

    async def _wait(self) -> None:
        """Waits for the end for a while, and once it has come reads the rest as far as needed."""
        if self._end is None:
            self._end = await self._store.end_of(self.query_id)
        # A query that was begun elsewhere may be over.
        if not self._events:
            await self._read_on()
            return
        ending = await self._end.within(min(LOOK_AGAIN_S, self._left_s()))
        if ending:
            # Over only once all is here: if this read fails, the next look tries again.
            if self._is_counted or not _has_answer(ending):
                await self._read_on()
            self._ending = ending
        elif self._left_s() == 0:
            await self._end_late()

    async def _end_late(self) -> None:
        """Takes the query over, unless its trace has a resumption that moves its deadline."""
        await self._read_on()
        if not self.is_over and self._left_s() == 0:
            await self._take_over()

    async def _read_on(self) -> None:
        for recorded in await self._store.read(self.query_id, len(self._events)):
            # Two tasks may read at once.
            if recorded.seq == len(self._events) + 1:
                self._note(recorded)

    def _note(self, recorded: Recorded[Event]) -> None:
        self._events.append(recorded)
        self._owed = fold_pending(self._owed, recorded)
        match recorded.event:
            case QueryReceived(settings=settings):
                ends_at = recorded.at + settings.deadline_s
                self._take_over_at = ends_at + GRACE_S
                self._tell_at = max(self._tell_at, ends_at + LATE_S)
            case QueryResumed(away_s=away_s):
                self._take_over_at += away_s
                self._tell_at += away_s
            case QueryClosed():
                self._ending = [recorded]
            case _:
                pass

    def _left_s(self) -> float:
        return max(0.0, self._take_over_at - self._clock.now())

    async def _take_over(self) -> None:
        """Answers in this process from the recorded facts, without repeating the interrupted requests."""
        self._take_over_at = self._clock.now() + self._again_s
        # The answer could not be stored, and its cost would be wasted.
        if self._trouble() is not None:
            return
        self._again_s = min(MOST_AGAIN_S, 2 * self._again_s)
        first = self._events[0].event
        assert isinstance(first, QueryReceived)  # or there was no deadline
        log.warning("query_taken_over", query_id=self.query_id)
        try:
            ending = await self._end_query(
                self.query_id, LATE, alarms(first.settings)[-1]
            )
            if await ending.is_whole():
                await self._removed(self.query_id)
        # It is over after all, or another process was faster: its trace will show that.
        except ServiceError as error:
            log.info("query_not_taken_over", query_id=self.query_id, error=str(error))


def _has_answer(ending: Sequence[Recorded[Event]]) -> bool:
    return any(isinstance(each.event, ResponseAssembled) for each in ending)
