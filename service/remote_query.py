"""A query that a worker in another process works on, as its caller holds it."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
)
from typing import Any

import structlog

from antiphon.bus import Pending, PendingTable, fold_pending
from antiphon.composition import Caller, Outcome, Totals
from antiphon.composition.spending import Spending, bought_in, shared_with_parent
from antiphon.coordinator import alarms
from antiphon.history.history import History
from antiphon.vocabulary.errors import DecodeError, NotFoundError, ServiceError
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
)
from antiphon.vocabulary.ports import Clock
from antiphon.vocabulary.queue_ports import FollowedStore

log = structlog.get_logger(__name__)

GRACE_S = 1.5
"""Seconds behind its deadline after which a query is taken over: a worker that lives has answered by then."""
AGAIN_S = 5.0
"""Seconds after which that is tried again."""
PAUSE_S = 0.5
"""Seconds between two tries to follow a trace whose store cannot be reached."""
LATE = "its deadline passed, and no worker had answered it"
"""Recorded as the reason of a query that the process which was asked has taken over."""

Streamed = AsyncGenerator[Recorded[Event] | Live, None]


class RemoteQuery:
    """A query, wherever it is worked on; or one that is over.

    Attributes:
        session_id: Its conversation; empty until that is known.
        totals: The sums that its outcome is added to; None: none.
    """

    def __init__(
        self,
        query_id: str,
        session_id: str,
        store: FollowedStore,
        history: Callable[[], History],
        clock: Clock,
        *,
        follow: Callable[[str, int], Streamed],
        cancel: Callable[[str, str], None],
        removed: Callable[[str], Awaitable[None]],
        spawn: Callable[[Coroutine[Any, Any, None], str], asyncio.Task[None]],
    ) -> None:
        self.query_id = query_id
        self.session_id = session_id
        self.totals: Totals | None = None
        self._store = store
        self._history = history
        self._clock = clock
        self._follow = follow
        self._cancel = cancel
        self._removed = removed
        self._spawn = spawn
        self._events: list[Recorded[Event]] = []
        self._owed: PendingTable = {}
        self._take_over_at = float("inf")
        self._watching: asyncio.Task[None] | None = None

    def follow(self) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields every event from the first, and text as it is written; ends with the query."""
        return self._follow(self.query_id, 0)

    def cancel(self, why: str) -> None:
        """Has the query end, unless it is over; its trace says why."""
        if not self.is_over:
            self._cancel(self.query_id, why)

    @property
    def is_over(self) -> bool:
        """True once its trace says so, as far as it was read here."""
        return bool(self._events) and isinstance(self._events[-1].event, QueryClosed)

    def pending(self) -> tuple[Pending, ...]:
        """Returns what it waits for, as far as its trace was read here."""
        owed = self._owed.values()
        return tuple(sorted(owed, key=lambda pending: pending.since_seq))

    def spending(self, *, paid_too: bool = False) -> list[Spending]:
        """Returns the outcomes of its calls that may cost something, whoever made them.

        Args:
            paid_too: Makes no difference: all of them are its own.
        """
        del paid_too
        return bought_in(self._events, self._events[: shared_with_parent(self._events)])

    async def outcome(self) -> Outcome:
        """Returns the answer, once there is one.

        Raises:
            NotFoundError: No such trace.
            DecodeError: A newer program writes it.
        """
        if self._watching is None:
            self._watching = self._spawn(self._watch(), "watch a query")
        # Cancelled, only the waiting ends.
        await asyncio.shield(self._watching)
        caller = Caller()
        caller.recall(self._events)
        outcome = caller.outcome(
            self.query_id, self.session_id, trace=self._events, recorded=True
        )
        # Counted once, however often the outcome is asked for.
        totals, self.totals = self.totals, None
        if totals is not None:
            totals.add(outcome)
        return outcome

    async def _watch(self) -> None:
        """Reads the trace to its end; where its deadline passes without one, ends the query here."""
        while not self.is_over:
            try:
                async with asyncio.timeout(self._left_s()) as limit:
                    await self._read_on(limit)
            except TimeoutError:
                await self._take_over()
            # A trace that a newer program writes is never read here: another node has its answer.
            except (NotFoundError, DecodeError):
                raise
            # A reader that fell behind reads on; a store that cannot be reached may be back in a moment.
            except ServiceError as error:
                log.warning(
                    "query_not_followed", query_id=self.query_id, error=str(error)
                )
                await asyncio.sleep(PAUSE_S)

    async def _read_on(self, limit: asyncio.Timeout) -> None:
        loop = asyncio.get_running_loop()
        after = len(self._events)
        async for item in self._store.follow(self.query_id, after):
            if isinstance(item, Recorded):
                self._note(item)
                # Known from its first event on.
                left_s = self._left_s()
                if left_s is not None:
                    limit.reschedule(loop.time() + left_s)

    def _note(self, recorded: Recorded[Event]) -> None:
        self._events.append(recorded)
        self._owed = fold_pending(self._owed, recorded)
        match recorded.event:
            case QueryReceived(session_id=session_id, settings=settings):
                self.session_id = session_id
                self._take_over_at = recorded.at + settings.deadline_s + GRACE_S
            case QueryResumed(away_s=away_s):
                self._take_over_at += away_s
            case _:
                pass

    def _left_s(self) -> float | None:
        if self._take_over_at == float("inf"):
            return None
        return max(0.0, self._take_over_at - self._clock.now())

    async def _take_over(self) -> None:
        """Answers with what is there, in this process, without repeating what the query was interrupted in."""
        self._take_over_at = self._clock.now() + AGAIN_S
        first = self._events[0].event
        assert isinstance(first, QueryReceived)  # or there was no deadline
        log.warning("query_taken_over", query_id=self.query_id)
        try:
            ending = await self._history().end(
                self.query_id, LATE, alarms(first.settings)[-1]
            )
            if await ending.is_whole():
                await self._removed(self.query_id)
        # It is over after all, or another process was faster: its trace tells.
        except ServiceError as error:
            log.info("query_not_taken_over", query_id=self.query_id, error=str(error))
