"""The trace of a query that a worker in another process writes, as it is read where the query was asked."""

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
"""Seconds behind its deadline after which a query is taken over: a worker that lives has answered by then."""
LATE_S = 1.75
"""Seconds behind its deadline after which its caller is told that no answer could be stored: within two it is heard."""
AGAIN_S = 5.0
"""Seconds after which a query is taken over once more that could not be stored to its end; twice as many each time."""
MOST_AGAIN_S = 60.0
COME_AGAIN_S = 5.0
"""Seconds after which a caller who was told that there is no answer may look for it."""
LOOK_AGAIN_S = 5.0
"""Seconds after which a trace is looked at of whose end nothing was heard: that may have been lost on the way."""
PAUSE_S = 0.5
"""Seconds between two looks at a trace whose store cannot be reached."""
LATE = "its deadline passed, and no worker had answered it"
"""Recorded as the reason of a query that the process which was asked has taken over."""

Streamed = AsyncGenerator[Recorded[Event] | Live, None]


class SharedTrace:
    """The trace of a query, wherever it is worked on; or of one that is over. Satisfies `composition.GrowingTrace`.

    Whoever ends the query tells of its end, and of the trace is read what the answer needs. Who follows it reads the
    whole.

    Args:
        trouble: Returns why nothing can be stored now, in a sentence; None: it can.
        begun: The beginning of its trace, and its end as it will be told; None: it was begun elsewhere.
        is_counted: Somebody will ask what its calls cost: its trace is read whole when it is over.
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
        # If its trace cannot be read, nobody waits longer than that for its deadline.
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
        """Yields every event behind one of them, and text as it is written.

        Ends with the query, or if `closed` says that there is no answer.

        Args:
            buffer: Makes no difference: what is not read yet waits at the servers.
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
        """Has the query end, unless it is over, or past its deadline, if it is ended anyway; its trace says why."""
        # Whoever was told to look for the answer later has not gone away.
        if not self.is_over and not self._was_told_later and self._left_s() > 0:
            self._cancel(self.query_id, why)

    @property
    def is_over(self) -> bool:
        """True once its trace says so, as far as it was read here."""
        return bool(self._ending)

    @property
    def emitted(self) -> Sequence[Recorded[Event]]:
        """What was read of it here."""
        if not self._ending or isinstance(self._events[-1].event, QueryClosed):
            return self._events
        return [*self._events, *self._ending]

    @property
    def recorded(self) -> bool:
        """True: what comes from the store is stored."""
        return True

    def pending(self) -> tuple[Pending, ...]:
        """Returns what it waits for, as far as its trace was read here."""
        owed = self._owed.values()
        return tuple(sorted(owed, key=lambda pending: pending.since_seq))

    async def look(self) -> None:
        """Reads what its trace holds by now; a store that cannot be reached leaves it at what is known."""
        try:
            await self._read_on()
        except ServiceError as error:
            log.debug("query_not_read", query_id=self.query_id, error=str(error))

    async def stopped(self, within_s: float | None = None) -> None:
        """Returns at once: nothing of it is written here."""
        del within_s

    async def closed(self) -> None:
        """Waits for the end of the query.

        Raises:
            NotFoundError: No such trace.
            DecodeError: A newer program writes it.
            BusyError: `LATE_S` after its deadline there is none that is stored.
        """
        watching = self.watch()
        # Cancelled, only the waiting ends.
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
        """Begins to wait for its end, unless that has begun; what it raises is for who waits for the end."""
        if self._watching is None:
            self._watching = self._spawn(self._watch(), "watch a query")
        return self._watching

    def tell_by(self, at: float) -> None:
        """Has its caller told by then, however long it took to begin it."""
        self._tell_by = at

    async def _before_late(self, awaited: asyncio.Future[Any]) -> None:
        """Waits for something, but no longer than until the caller must learn of it, whatever the store does."""
        while not awaited.done():
            left_s = min(self._tell_at, self._tell_by) - self._clock.now()
            if left_s <= 0:
                return
            await asyncio.wait({awaited}, timeout=left_s)

    async def _next_of(self, items: Streamed) -> Recorded[Event] | Live | None:
        """Returns the next item; None if there is none, or none by the time at which the caller must learn of it."""

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
            # A trace that a newer program writes is never read here: another node has its answer.
            except (NotFoundError, DecodeError):
                raise
            # A store that cannot be reached may be back in a moment.
            except ServiceError as error:
                log.warning("query_not_read", query_id=self.query_id, error=str(error))
                await asyncio.sleep(PAUSE_S)

    async def _wait(self) -> None:
        """Waits for the end for a while, and reads what is needed of the rest if it has come."""
        if self._end is None:
            self._end = await self._store.end_of(self.query_id)
        # Begun elsewhere, it may be over.
        if not self._events:
            await self._read_on()
            return
        ending = await self._end.within(min(LOOK_AGAIN_S, self._left_s()))
        if ending:
            # Over only when all is here: what cannot be read now is tried again.
            if self._is_counted or not _has_answer(ending):
                await self._read_on()
            self._ending = ending
        elif self._left_s() == 0:
            await self._end_late()

    async def _end_late(self) -> None:
        """Takes the query over, unless its trace says that it stood still for a while, which moves its deadline."""
        await self._read_on()
        if not self.is_over and self._left_s() == 0:
            await self._take_over()

    async def _read_on(self) -> None:
        for recorded in await self._store.read(self.query_id, len(self._events)):
            # Two may read at once.
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
        """Answers with what is there, in this process, without repeating what the query was interrupted in."""
        self._take_over_at = self._clock.now() + self._again_s
        # It would be lost, and what is paid for it too.
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
        # It is over after all, or another process was faster: its trace tells.
        except ServiceError as error:
            log.info("query_not_taken_over", query_id=self.query_id, error=str(error))


def _has_answer(ending: Sequence[Recorded[Event]]) -> bool:
    return any(isinstance(each.event, ResponseAssembled) for each in ending)
