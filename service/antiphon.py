"""The service as a Python object: ask a question, watch it being worked out, get the answer."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from functools import partial

import structlog

from antiphon.bus import Bus, Pending
from antiphon.composition import (
    Caller,
    CourseIndex,
    Interceptor,
    NoInterceptor,
    Outcome,
    QueryHandle,
    ServiceResources,
    Settings,
    Totals,
    build,
    wire,
)
from antiphon.composition.intake import Intake
from antiphon.composition.question import Question
from antiphon.history import Change, ForkPlan, Mode
from antiphon.history.history import History
from antiphon.knowledge import Course
from antiphon.service.archive import Archive
from antiphon.service.documents import Documents
from antiphon.service.fault_reports import FaultReports
from antiphon.service.guide import (
    EventKind,
    QuerySetting,
    event_kinds,
    query_settings,
)
from antiphon.service.lesson_texts import TextStretch, text_stretch
from antiphon.service.network_forks import IMPORTED, limited_changes
from antiphon.service.recorded_query import RecordedQuery
from antiphon.service.searching import NOT_INDEXED, PASSAGES, SearchResult, search
from antiphon.service.short_ids import whole_id
from antiphon.service.state import service_state
from antiphon.service.suggesting import Suggestion, suggestions
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import (
    BusyError,
    ForbiddenError,
    ServiceError,
    TraceStateError,
)
from antiphon.vocabulary.events import QueryCancelled
from antiphon.vocabulary.ports import Clock, Retention, TraceStore
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value

log = structlog.get_logger(__name__)

REFRESH_EVERY_S = 1.0
"""A new index is used about as soon as the command that made it has ended."""
PRUNE_EVERY_S = 3600.0
DAY_S = 86_400.0
MB = 1_000_000

_NO_INTERCEPTOR = NoInterceptor()


class Readiness(Value, frozen=True, kw_only=True):
    """The readiness to answer questions, and who answers; `problems` says in sentences what is missing."""

    ready: bool
    reasoner: str
    embedder: str | None
    generation: int
    courses: int
    chunks: int
    problems: tuple[str, ...] = ()


class Antiphon:
    """Answers questions over the indexed courses. Make one a process with `open`, and `close` it."""

    def __init__(self, settings: Settings, resources: ServiceResources) -> None:
        self.settings = settings
        self.store: TraceStore = resources.store
        self.totals = Totals()
        self._resources = resources
        self._shared = resources.shared
        self._bus = Bus(resources.store, self._shared.clock, self._shared.catalog)
        self.archive = Archive(
            resources.store, settings, self._shared.subscribers, self._bus.sessions
        )
        self.fault_reports = FaultReports(
            settings.data_dir, self.archive, resources.store
        )
        self._intake = Intake(settings, resources)
        self.history = History(
            self._bus,
            self._shared,
            resources.store,
            self._admit,
            self.totals,
            self._intake.versions,
        )
        self.documents = Documents(settings, resources.library.refresh)
        self._closing = False
        self.metrics = resources.telemetry.metrics
        if self.metrics is not None:
            self.metrics.watch(partial(service_state, self, self._shared))
        self._upkeep = [
            asyncio.create_task(
                refresh_library(resources.library), name="watch the index"
            )
        ]
        if settings.keep_days is not None or settings.keep_mb is not None:
            keeping = keep_traces(resources.store, settings, self._shared.clock)
            self._upkeep.append(asyncio.create_task(keeping, name="keep the traces"))

    @classmethod
    async def open(
        cls, settings: Settings, subscribers: Sequence[Subscriber] = ()
    ) -> Antiphon:
        """Opens everything that the settings name.

        Args:
            subscribers: Components of your own, which are part of every query; beside those that the settings name.

        Raises:
            ConfigurationError: The settings cannot work.
            KnowledgeError: The index cannot be read.
            TraceError: The trace store cannot be opened.
        """
        # Loading an embedder and opening an index take seconds, in which the loop may have other things to do.
        return cls(settings, await asyncio.to_thread(build, settings, subscribers))

    async def start(
        self,
        question: Question,
        interceptor: Interceptor = _NO_INTERCEPTOR,
        query_id: str | None = None,
    ) -> QueryHandle:
        """Begins to work on a question.

        Args:
            interceptor: Stands between this query and its ports.
            query_id: The new query's id; None makes one.

        Raises:
            BadInputError: The question or a wish cannot be used.
            NotFoundError: No such conversation.
            BusyError: Too many queries run, or the service is closing.
        """
        self._admit()
        # The conversation is read from the same store that the query is recorded in: it may be made to fail.
        store = interceptor.store(self.store)
        first = await self._intake.receive(question, store, interceptor)
        # Once more: others may have begun, or the service to close, while the conversation was read.
        self._admit()
        caller = Caller()
        resources = interceptor.resources(self._shared)
        components = interceptor.components(
            lambda ports: wire(resources, ports, caller).subscriptions()
        )
        session = self._bus.open(query_id or uuid.uuid4().hex, components, store=store)
        session.start(first)
        return QueryHandle(session, caller, first.session_id, self.totals)

    async def ask(self, question: Question) -> Outcome:
        """Answers a question; cancels its query when the caller is cancelled. Raises as `start` does."""
        handle = await self.start(question)
        # A query whose caller has gone away would only cost tokens.
        try:
            return await handle.outcome()
        except asyncio.CancelledError:
            handle.cancel("the caller went away")
            raise

    async def fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None = None,
    ) -> QueryHandle:
        """Forks a query for a caller over the network, within the limits of network_forks.py; else as `History.fork`.

        Raises:
            ForbiddenError: A change is not among those that may be made.
        """
        at, limited = await self._limited(query_id, at, changes, interceptor)
        return await self.history.fork(
            query_id,
            at,
            limited,
            mode,
            interceptor,
            effects=self.settings.fork_effects,
        )

    async def plan_fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None = None,
    ) -> ForkPlan:
        """Says what such a fork would call and may cost. Takes what `fork` takes, and raises as it does."""
        at, limited = await self._limited(query_id, at, changes, interceptor)
        return await self.history.plan_fork(query_id, at, limited, mode, interceptor)

    async def _limited(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        interceptor: Interceptor | None,
    ) -> tuple[int | None, list[Change]]:
        """Returns a fork's event and changes within the limits."""
        await self._check_own(query_id)
        events = await self.store.read(query_id)
        limited = limited_changes(events, at, changes, self.settings)
        # A fork under faults alone begins before the event that it names; with the service's limits it still does.
        if limited and not changes and interceptor is not None:
            at = (at or 1) - 1
        elif at is None and not changes:
            limited = []
        return at, limited

    async def resume(self, query_id: str) -> QueryHandle:
        """Goes on with an interrupted query for a caller over the network; else as `History.resume`.

        Raises:
            ForbiddenError: It was imported, and the settings do not allow that.
        """
        await self._check_own(query_id)
        self._admit()
        return await self.history.resume(query_id)

    async def find(self, beginning: str) -> str:
        """Finds the one query whose id begins so, recorded or running. Raises as `whole_id` does."""
        # The first events of a query that has just begun may not be stored yet.
        if beginning in self._bus.sessions:
            return beginning
        return await whole_id(self.store, beginning)

    def recorded(self, query_id: str) -> RecordedQuery:
        """Returns a query that was begun before, as its caller would hold it."""
        return RecordedQuery(query_id, self.history, self.store)

    @property
    def catalog(self) -> Catalog:
        """Every event that there is, those of subscribers too."""
        return self._shared.catalog

    def event_kinds(self) -> tuple[EventKind, ...]:
        """Returns every kind of event, and who hears it."""
        return event_kinds(self._shared.subscribers)

    def query_settings(self) -> tuple[QuerySetting, ...]:
        """Returns the settings of a query as this service has them."""
        return query_settings(self.settings.query_settings())

    def cancel(self, query_id: str, why: str) -> None:
        """Ends a running query; whoever waits for it gets an answer that says so.

        Raises:
            TraceStateError: It does not run here.
        """
        session = self._bus.sessions.get(query_id)
        if session is None or session.over:
            raise TraceStateError(
                f"query {query_id} does not run here: there is nothing to cancel"
            )
        session.publish(QueryCancelled(why=why))

    def courses(self) -> tuple[Course, ...]:
        """Returns the courses that can be asked about."""
        return self._resources.library.courses()

    async def search(
        self,
        query: str,
        course: str | None = None,
        lesson: str | None = None,
        limit: int = PASSAGES,
        *,
        why: bool = False,
    ) -> SearchResult:
        """Finds passages as the tools do, without a question that is answered. Raises as `searching.search` does."""
        library = self._resources.library
        return await asyncio.to_thread(
            search, library, query, course, lesson, limit, why=why
        )

    async def text(
        self, course: str, lesson: int | None, start: int, length: int
    ) -> TextStretch:
        """Reads a stretch of a lesson's text. Raises as `lesson_texts.text_stretch` does."""
        return await asyncio.to_thread(
            text_stretch, self.settings.data_dir, course, lesson, start, length
        )

    async def suggestions(self, most: int) -> tuple[Suggestion, ...]:
        """Returns questions to begin with, which the index can answer; none where nothing is indexed."""
        library = self._resources.library
        return await asyncio.to_thread(suggestions, library, most)

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets a conversation; its traces stay. Raises NotFoundError where there is no such conversation."""
        await self.store.clear_conversation(session_id)

    def running(self) -> dict[str, tuple[Pending, ...]]:
        """Returns each open query, and who owes it what."""
        return {
            query_id: session.pending()
            for query_id, session in self._bus.sessions.items()
        }

    def readiness(self) -> Readiness:
        """Reports the readiness to answer questions now, and what is missing where there is none."""
        state = self._resources.library.describe()
        problems: tuple[str, ...] = ()
        if not state.chunks:
            problems = (NOT_INDEXED,)
        return Readiness(
            ready=not problems and not self._closing,
            reasoner=self._resources.reasoner,
            embedder=state.embedder,
            generation=state.generation,
            courses=state.documents,
            chunks=state.chunks,
            problems=problems,
        )

    async def close(self) -> None:
        """Ends every query and lets go of everything."""
        await self.leave()
        await self._resources.close()

    async def leave(self) -> None:
        """Ends every query; the resources stay open, for they may be another service's too."""
        # First of all, so that no query begins while others end.
        self._closing = True
        await self.documents.close()
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        await self._bus.close()

    async def _check_own(self, query_id: str) -> None:
        if self.settings.fork_messages or query_id in self._bus.sessions:
            return
        if await self.store.is_imported(query_id):
            raise ForbiddenError(IMPORTED)

    def _admit(self) -> None:
        """Refuses where no further query may begin."""
        if self._closing or len(self._bus.sessions) >= self.settings.concurrent_queries:
            raise BusyError(
                "As many questions as this service allows are being answered: ask again in a moment."
            )


async def refresh_library(library: CourseIndex) -> None:
    """Switches to a new index when another process has made one, until it is cancelled."""
    while True:
        await asyncio.sleep(REFRESH_EVERY_S)
        # An index that cannot be opened leaves the old one in use, and is tried once more in a second.
        try:
            if await asyncio.to_thread(library.refresh):
                log.info("index_switched", generation=library.describe().generation)
        except ServiceError as error:
            log.warning("index_not_switched", error=str(error))


async def keep_traces(store: Retention, settings: Settings, clock: Clock) -> None:
    """Deletes traces that are too old or too much, now and every hour, until it is cancelled."""
    while True:
        older_than: float | None = None
        most_bytes: int | None = None
        if settings.keep_days is not None:
            older_than = clock.now() - settings.keep_days * DAY_S
        if settings.keep_mb is not None:
            most_bytes = int(settings.keep_mb * MB)
        # A store that cannot be written now must not end the service.
        try:
            if deleted := await store.prune(
                older_than=older_than, most_bytes=most_bytes
            ):
                log.info("traces_pruned", traces=deleted)
        except ServiceError as error:
            log.warning("traces_not_pruned", error=str(error))
        await clock.sleep(PRUNE_EVERY_S)
