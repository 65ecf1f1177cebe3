"""Queries that workers in other processes work on, as the process that was asked sees them: by their traces."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Coroutine,
    Iterator,
)
from contextlib import asynccontextmanager, contextmanager
from typing import Any, cast

import structlog

from antiphon.cluster import (
    NOT_RECORDED,
    FollowedStore,
    QueryQueue,
    QueuedQuery,
    Signals,
    TraceEnd,
    Wish,
)
from antiphon.composition import (
    Beginning,
    EndQuery,
    Interceptor,
    Query,
    Question,
    Settings,
    Totals,
    check_question,
    outcome_of,
)
from antiphon.composition.intake import REMEMBERING_S
from antiphon.vocabulary.access import LOCAL_TENANT, Principal
from antiphon.vocabulary.errors import (
    BusyError,
    ConfigurationError,
    ForbiddenError,
    NotFoundError,
    SequenceError,
    ServiceError,
    TraceError,
    TraceStateError,
)
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryCancelled,
    QueryClosed,
    QueryResumed,
    Recorded,
)
from antiphon.vocabulary.ports import Clock, TraceStore
from antiphon.workers.queue_admission import QueueAdmission
from antiphon.workers.shared_trace import LATE_S, SharedTrace

log = structlog.get_logger(__name__)

LOOKS_AT_ONCE = 8
"""Traces that are read at once to show what their queries wait for."""
WISH_EVERY_S = 2.0
"""Seconds after which a reader says again that text is to be shown: the query may have come to another worker."""


class BegunHere:
    """The queries that this process was asked and that are not over; one a service."""

    def __init__(self) -> None:
        self.traces: dict[str, SharedTrace] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    def add(self, trace: SharedTrace, totals: Totals) -> None:
        """Notes a query until it is over, whoever waits for it: its deadline is kept here.

        Args:
            totals: The sums that its outcome is added to.
        """
        self.traces[trace.query_id] = trace

        def forget(watching: asyncio.Task[None]) -> None:
            self.traces.pop(trace.query_id, None)
            # Whoever asked learns of a failure; here it was only waited for.
            if not watching.cancelled() and watching.exception() is None:
                totals.add(outcome_of(trace.emitted, recorded=True))

        trace.watch().add_done_callback(forget)

    async def look(self, is_wanted: Callable[[str], bool]) -> None:
        """Reads what the traces of some of them hold by now, a few at once."""
        wanted = [each for key, each in self.traces.items() if is_wanted(key)]
        left = iter(wanted)

        async def look_on() -> None:
            for trace in left:
                await trace.look()

        await asyncio.gather(*(look_on() for _ in range(LOOKS_AT_ONCE)))

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Starts what ends with the service, whoever waits for it."""
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Lets go of them: workers go on with them."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


class RemoteQueries:
    """What a caller may have workers do. The traces are those that they see. Satisfies `composition.Runner`."""

    def __init__(
        self,
        principal: Principal,
        settings: Settings,
        queue: QueryQueue,
        signals: Signals,
        admission: QueueAdmission,
        store: FollowedStore,
        end: EndQuery,
        clock: Clock,
        totals: Totals,
        begun: BegunHere,
    ) -> None:
        self._principal = principal
        self._settings = settings
        self._queue = queue
        self._signals = signals
        self._admission = admission
        self._store = store
        self._end = end
        self._clock = clock
        self._totals = totals
        self._begun = begun

    @asynccontextmanager
    async def place(
        self, query_id: str, question: Question, interceptor: Interceptor
    ) -> AsyncIterator[None]:
        """Waits at the door of the queue, and begins a query in the time in which its caller must learn of its end.

        Raises:
            BadInputError: The question cannot be used.
            BusyError: It could not be begun by then, or the queue is full.
            ForbiddenError: It is to be broken on purpose.
        """
        if interceptor.faults:
            raise ForbiddenError(
                "Fault plans are not taken if workers answer: they are for a service of one process."
            )
        deadline_s = check_question(question, self._settings).settings.deadline_s
        tell_by = self._clock.now() + deadline_s + LATE_S
        try:
            async with asyncio.timeout(deadline_s + LATE_S):
                await self._admission.let_in(self._principal.tenant)
                yield
        except TimeoutError as error:
            raise self._not_taken("NATS has not stored it in time") from error
        if query_id in self._begun.traces:
            self._begun.traces[query_id].tell_by(tell_by)

    async def begin(self, beginning: Beginning) -> Query:
        """Writes the beginning of a query's trace, and puts it into the queue; returns when both are stored.

        Raises:
            BusyError: It cannot be stored.
            SequenceError: There is a query of that id.
        """
        query_id, first = beginning.query_id, beginning.first
        recorded = Recorded[Event](
            query_id=query_id, seq=1, cause=0, at=self._clock.now(), event=first
        )
        with self._as_busy():
            # Before anybody could tell of it.
            end = await self._store.end_of(query_id)
            storing = [self._store.append(query_id, 0, [recorded])]
            if beginning.is_new:
                storing.append(self._open(first.session_id))
            # Together they are one write and one wait.
            await asyncio.gather(*storing)
        # Whatever happens now: its trace is there, and is found by whoever looks for those that nobody works on.
        await self._submit(query_id)
        trace = self._shared(query_id, (recorded, end))
        self._begun.add(trace, self._totals)
        return Query(trace)

    async def make_sure(self, query_id: str) -> None:
        """Makes sure that a query which was begun before, on whichever node, is in the queue, or over.

        Raises:
            BusyError: That cannot be found out.
        """
        if query_id not in self._begun.traces:
            with self._as_busy():
                head = await self._store.head(query_id)
            if not head.closed:
                await self._submit(query_id)

    async def _submit(self, query_id: str) -> None:
        await self._queue.submit(
            QueuedQuery(
                query_id=query_id,
                tenant=self._principal.tenant or LOCAL_TENANT,
                key_id=self._principal.key_id,
            )
        )

    @contextmanager
    def _as_busy(self) -> Iterator[None]:
        """Turns what the store refuses into a refusal of the question that says what to do."""
        try:
            yield
        except SequenceError:
            raise
        except TraceError as error:
            raise self._not_taken(str(error)) from error

    def _not_taken(self, found: str) -> BusyError:
        trouble = (
            self._queue.trouble or f"{found}: {NOT_RECORDED}. Ask again in a moment."
        )
        return BusyError(f"The question is not taken. {trouble}", 2.0)

    async def _open(self, session_id: str) -> None:
        """Makes a conversation known; if that fails, it is known by its query."""
        try:
            async with asyncio.timeout(REMEMBERING_S):
                await self._store.open_conversation(session_id)
        except (ServiceError, TimeoutError) as error:
            log.warning("conversation_not_opened", error=str(error))

    def trace(self, query_id: str) -> SharedTrace:
        """Returns the trace of a query that was begun before, on whichever node."""
        known = self._begun.traces.get(query_id)
        if known is not None:
            return known
        return self._shared(query_id, None)

    def _shared(
        self, query_id: str, begun: tuple[Recorded[Event], TraceEnd] | None
    ) -> SharedTrace:
        return SharedTrace(
            query_id,
            self._store,
            lambda: self._queue.trouble,
            self._end,
            self._clock,
            begun,
            is_counted=bool(self._principal.key_id),
            follow=self.follow,
            cancel=self._cancel_soon,
            removed=self._remove,
            spawn=self._begun.spawn,
        )

    async def knows(self, query_id: str) -> bool:
        """Returns True for the whole id of a trace that the caller sees."""
        try:
            await self._store.head(query_id)
        except NotFoundError:
            return False
        return True

    async def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncGenerator[Recorded[Event] | Live, None]:
        """Yields a query's events after one of them, and its text as it is written, wherever it is worked on.

        Raises:
            NotFoundError: No such trace.
        """
        wishing: asyncio.Task[None] | None = None
        try:
            async for item in self._store.follow(query_id, after):
                # From here on somebody works on it, who knows of no reader yet.
                if _begins(item):
                    if wishing is not None:
                        wishing.cancel()
                    wishing = asyncio.create_task(self._wish_text(query_id))
                yield item
        finally:
            if wishing is not None:
                wishing.cancel()

    async def _wish_text(self, query_id: str) -> None:
        while True:
            await self._signals.tell(Wish(query_id=query_id, wants="text"))
            await asyncio.sleep(WISH_EVERY_S)

    async def cancel(self, query_id: str, why: str) -> None:
        """Ends a query wherever it is worked on, or waits.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: It is over.
        """
        events = await self._store.read(query_id)
        if isinstance(events[-1].event, QueryClosed):
            raise TraceStateError(
                f"query {query_id} is over: there is nothing to cancel"
            )
        if await self._signals.wish(Wish(query_id=query_id, wants="end", why=why)):
            return
        # Nobody works on it: it waits, or its worker has died.
        ended = await self._end(query_id, why, QueryCancelled(why=why))
        await ended.is_whole()
        await self._remove(query_id)

    def _cancel_soon(self, query_id: str, why: str) -> None:
        self._begun.spawn(self._cancel_anyway(query_id, why), "cancel a query")

    async def _cancel_anyway(self, query_id: str, why: str) -> None:
        try:
            await self.cancel(query_id, why)
        except ServiceError as error:
            log.info("query_not_cancelled", query_id=query_id, error=str(error))

    async def _remove(self, query_id: str) -> None:
        tenant = self._principal.tenant or LOCAL_TENANT
        await self._queue.remove(QueuedQuery(query_id=query_id, tenant=tenant))


def followed(store: TraceStore) -> FollowedStore:
    """Returns a store whose traces can be followed.

    Raises:
        ConfigurationError: They cannot, so that other processes' queries would never be answered.
    """
    if not hasattr(store, "follow"):
        raise ConfigurationError(
            "Queries are on NATS, and their traces are not: set ANTIPHON_NATS_URL for both."
        )
    return cast(FollowedStore, store)


def _begins(item: Recorded[Event] | Live) -> bool:
    return isinstance(item, Recorded) and isinstance(item.event, QueryResumed)
