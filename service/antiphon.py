"""The service as a Python object: ask a question, watch it being worked out, get the answer."""

from __future__ import annotations

import asyncio
import copy
import uuid
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog

from antiphon.bus import Bus, Pending
from antiphon.composition import (
    Caller,
    Interceptor,
    NoInterceptor,
    Outcome,
    QueryHandle,
    ServiceResources,
    Settings,
    Totals,
    build,
    check_question,
    open_cluster,
    wire,
    with_sharing,
)
from antiphon.composition.intake import Intake
from antiphon.composition.question import Question
from antiphon.history import Change, ForkPlan, Mode
from antiphon.history.history import Follow, History
from antiphon.knowledge import Course
from antiphon.service.admission import Admission, watch_loop
from antiphon.service.archive import Archive
from antiphon.service.callers import Callers
from antiphon.service.continuing import Continuing
from antiphon.service.fault_reports import FaultReports
from antiphon.service.guide import (
    EventKind,
    QuerySetting,
    event_kinds,
    query_settings,
)
from antiphon.service.lesson_texts import TextStretch, text_stretch
from antiphon.service.metering import Metering, Need, bounded, need_of
from antiphon.service.queue_admission import QueueAdmission
from antiphon.service.readiness import Readiness, readiness_of
from antiphon.service.recorded_query import RecordedQuery
from antiphon.service.remote_queries import BegunHere, RemoteQueries, followed
from antiphon.service.remote_query import RemoteQuery
from antiphon.service.searching import PASSAGES, SearchResult, search
from antiphon.service.short_ids import whole_id
from antiphon.service.state import service_state
from antiphon.service.suggesting import Suggestion, suggestions
from antiphon.service.sweeping import Sweeper
from antiphon.service.tenant_documents import TenantDocuments
from antiphon.service.tenant_resources import TenantResources
from antiphon.service.upkeep import (
    SEARCH_WAITS_S,
    Loading,
    keep_traces,
    refresh_library,
)
from antiphon.service.usage import UsageReport
from antiphon.service.worker import Worker
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import (
    ConfigurationError,
    ForbiddenError,
    SequenceError,
    ServiceError,
    TraceStateError,
)
from antiphon.vocabulary.events import QueryCancelled
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.queue_ports import QueuedQuery
from antiphon.vocabulary.settings import QuerySettings
from antiphon.vocabulary.subscribers import Subscriber

log = structlog.get_logger(__name__)

_NO_INTERCEPTOR = NoInterceptor()


class _Life:
    """What every caller's view of the service shares: that it closes."""

    closing = False


class Antiphon:
    """Answers questions over the indexed courses. Make one a process with `open`, and `close` it."""

    def __init__(self, settings: Settings, resources: ServiceResources) -> None:
        self.settings = settings
        self.totals = Totals()
        self._service = resources
        self._admission = Admission(
            settings.concurrent_queries, settings.most_wait_s, lambda: bus.under_way
        )
        # Not `self._bus` above: a session that somebody holds would hold the service.
        self._bus = bus = Bus(
            resources.store,
            resources.shared.clock,
            resources.shared.catalog,
            self._admission.ended,
        )
        self._callers = Callers(settings)
        self._metering = Metering(self._callers.quotas)
        self._life = _Life()
        self._loading = Loading(resources.later)
        self._views = TenantResources(resources)
        self._documents = TenantDocuments(settings, resources)
        self._begun = BegunHere()
        self._queue_admission: QueueAdmission | None = None
        if resources.sharing is not None:
            self._queue_admission = QueueAdmission(
                resources.sharing.queue, settings.queue_wait_s
            )
        self._see(self._callers.without_key)
        self.metrics = resources.telemetry.metrics
        if self.metrics is not None:
            self.metrics.watch(partial(service_state, self, self._shared))
        self._upkeep = [
            asyncio.create_task(
                refresh_library(resources.library), name="watch the index"
            ),
            asyncio.create_task(watch_loop(self._admission), name="watch the loop"),
        ]
        if settings.keep_days is not None or settings.keep_mb is not None:
            keeping = keep_traces(resources.store, settings, resources.shared.clock)
            self._upkeep.append(asyncio.create_task(keeping, name="keep the traces"))

    def _see(self, principal: Principal) -> None:
        """Takes the place of a caller: the parts below reach what is theirs, and nothing else."""
        self.principal = principal
        self._resources = self._views.of(principal)
        self._shared = self._resources.shared
        store: TraceStore = self._service.store
        tenant: str | None = None
        if not principal.sees_all:
            tenant = principal.tenant
            store = self._service.store.seen_by(tenant)
        self.store = store
        self.documents = self._documents.of(principal)
        self.archive = Archive(
            store, self.settings, self._shared.subscribers, self._bus.sessions, tenant
        )
        self.fault_reports = FaultReports(self.settings.data_dir, self.archive, store)
        self._remote = self._remote_queries()
        waits: Callable[[float], Awaitable[float]] | None = self._loading.wait
        follow: Follow | None = None
        if self._remote is not None:
            # Workers search; whoever is only asked needs no embedder.
            waits = None
            follow = self._remote.follow
        self._intake = Intake(
            self.settings, self._resources, waits, opens=self._remote is None
        )
        self.history = History(
            self._bus,
            self._shared,
            store,
            self._admission.check,
            self.totals,
            self._intake.versions,
            follow,
        )
        self._continuing = Continuing(
            principal,
            lambda: self.settings,
            self._shared,
            store,
            self.history,
            self._metering,
            self._bus.sessions,
            self._admission.check,
        )

    def _remote_queries(self) -> RemoteQueries | None:
        """Returns the way to the workers, where other processes work on queries."""
        if self._service.sharing is None:
            return None
        return RemoteQueries(
            self.principal,
            self._service.sharing,
            followed(self.store),
            lambda: self.history,
            self._shared.clock,
            self._begun,
        )

    def seen_by(self, principal: Principal) -> Antiphon:
        """Returns this service as a caller sees it: what is not theirs is not there."""
        if principal == self.principal:
            return self
        seen = copy.copy(self)
        seen._see(principal)
        return seen

    def principal_of(self, key: str | None) -> Principal:
        """Returns who a caller is by the key that they sent. Raises as `Callers.principal_of` does."""
        return self._callers.principal_of(key)

    def public_principal(self) -> Principal:
        """Returns who a caller is to what asks nobody for a key."""
        return self._callers.public_principal()

    async def usage(self) -> UsageReport:
        """Returns what the caller's key and tenant have used today."""
        return self._callers.quotas.report(self.principal)

    @classmethod
    async def open(
        cls,
        settings: Settings,
        subscribers: Sequence[Subscriber] = (),
        *,
        loads_later: bool = False,
    ) -> Antiphon:
        """Opens everything that the settings name.

        Args:
            subscribers: Components of your own, which are part of every query; beside those that the settings name.
            loads_later: Leave embedder and SDK to `load`; questions wait for them.

        Raises:
            ConfigurationError: The settings cannot work.
            KnowledgeError: The index cannot be read.
            TraceError: The trace store cannot be opened.
        """
        # Loading an embedder and opening an index take seconds, in which the loop may have other things to do.
        cluster = await open_cluster(settings)
        try:
            resources = await asyncio.to_thread(
                build, settings, subscribers, loads_later=loads_later, cluster=cluster
            )
            opened = cls(settings, await with_sharing(resources, cluster, settings))
            await opened._hear_workers()
        except BaseException:
            if cluster is not None:
                await cluster.close()
            raise
        return opened

    async def _hear_workers(self) -> None:
        if self._service.sharing is not None and self._queue_admission is not None:
            await self._service.sharing.signals.hear_reports(self._queue_admission.hear)

    def load(self) -> None:
        """Begins to load what was left out, behind the service; `readiness` tells when it is there."""
        self._loading.begin()

    async def start(
        self,
        question: Question,
        interceptor: Interceptor = _NO_INTERCEPTOR,
        query_id: str | None = None,
    ) -> QueryHandle | RemoteQuery:
        """Begins to work on a question.

        Args:
            interceptor: Stands between this query and its ports.
            query_id: The new query's id; None makes one.

        Raises:
            BadInputError: The question or a wish cannot be used.
            NotFoundError: No such conversation.
            BusyError: Too many queries run or wait, or the service is closing, or NATS cannot be reached.
            ForbiddenError: It is to be broken on purpose, and workers in other processes answer.
        """
        query_id = query_id or uuid.uuid4().hex
        if self._queue_admission is not None and self._remote is not None:
            return await self._queue(
                question, interceptor, query_id, self._queue_admission, self._remote
            )
        async with self._admission.place(query_id):
            return await self._let_in(question, interceptor, query_id)

    async def _queue(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        admission: QueueAdmission,
        remote: RemoteQueries,
    ) -> QueryHandle | RemoteQuery:
        """Begins a query that a worker will go on with."""
        if interceptor.faults:
            raise ForbiddenError(
                "Fault plans are not taken where workers answer: they are for a service of one process."
            )
        if self._life.closing:
            self._admission.check()
        await admission.let_in(self.principal.tenant)
        try:
            return await self._let_in(question, interceptor, query_id)
        except SequenceError:
            # The same was asked of two nodes at once, and the other was first.
            return remote.find(query_id)

    async def _let_in(
        self, question: Question, interceptor: Interceptor, query_id: str
    ) -> QueryHandle | RemoteQuery:
        need = Need()
        settings: QuerySettings | None = None
        if self.principal.key_id:
            # What cannot be asked is not counted.
            settings = check_question(question, self.settings).settings
            need = need_of(settings, self._shared)
        async with self._metering.let_in(self.principal, query_id, need) as allowance:
            if settings is not None:
                question = bounded(question, settings, allowance)
            handle = await self._begin(question, interceptor, query_id)
            self._metering.watch(self.principal, handle)
        return handle

    async def _begin(
        self, question: Question, interceptor: Interceptor, query_id: str
    ) -> QueryHandle | RemoteQuery:
        # The conversation is read from the same store that the query is recorded in: it may be made to fail.
        store = interceptor.store(self.store)
        first = await self._intake.receive(question, store, interceptor)
        # The service may have begun to close while the conversation was read.
        if self._life.closing:
            self._admission.check()
        if self._remote is not None:
            return await self._remote.begin(
                query_id, first, self.totals, is_new=question.session_id is None
            )
        caller = Caller()
        resources = interceptor.resources(self._shared)
        components = interceptor.components(
            lambda ports: wire(resources, ports, caller).subscriptions()
        )
        session = self._bus.open(query_id, components, store=store)
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
        """Forks a query for a caller over the network. Raises as `Continuing.fork` does."""
        return await self._continuing.fork(query_id, at, changes, mode, interceptor)

    async def plan_fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None = None,
    ) -> ForkPlan:
        """Says what such a fork would call and may cost. Takes what `fork` takes, and raises as it does."""
        return await self._continuing.plan_fork(
            query_id, at, changes, mode, interceptor
        )

    async def resume(self, query_id: str) -> QueryHandle:
        """Goes on with an interrupted query for a caller over the network. Raises as `Continuing.resume` does."""
        return await self._continuing.resume(query_id)

    async def resume_unfinished(self) -> Sequence[QueryHandle]:
        """Goes on with the queries that a process left behind, each as whose it is."""
        resumed: list[QueryHandle] = []
        if self._service.sharing is not None:
            await self._count_earlier()
            return resumed
        for query_id in await self._service.store.unfinished():
            tenant = await self._service.store.tenant_of(query_id)
            principal = self._callers.opener_of(query_id, tenant)
            # One that cannot be gone on with is left as it is.
            try:
                handle = await self.seen_by(principal).history.resume(query_id)
            except ServiceError as error:
                log.warning("query_not_resumed", query_id=query_id, error=str(error))
                continue
            self._metering.watch_resumed(principal, handle)
            resumed.append(handle)
        return resumed

    async def find(self, beginning: str) -> str:
        """Finds the one query whose id begins so, recorded or running. Raises as `whole_id` does."""
        # The first events of a query that has just begun may not be stored yet.
        if beginning in self.running():
            return beginning
        # Mostly it is a whole id, for which no list of traces is needed.
        if self._remote is not None and await self._remote.is_there(beginning):
            return beginning
        return await whole_id(self.store, beginning)

    async def _count_earlier(self) -> None:
        """Waits for the queries that an earlier process was asked here, to count what they use."""
        for query_id in self._callers.quotas.under_way():
            tenant = await self._service.store.tenant_of(query_id)
            principal = self._callers.opener_of(query_id, tenant)
            remote = self.seen_by(principal)._remote
            if remote is not None:
                self._metering.watch_resumed(principal, remote.find(query_id))

    def recorded(self, query_id: str) -> RecordedQuery | RemoteQuery:
        """Returns a query that was begun before, as its caller would hold it."""
        if self._remote is not None:
            return self._remote.find(query_id)
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

    async def cancel(self, query_id: str, why: str) -> None:
        """Ends a running query; whoever waits for it gets an answer that says so.

        Raises:
            TraceStateError: It is over, or does not run here where no other process works on queries.
        """
        session = self._bus.sessions.get(query_id)
        if session is None and self._remote is not None:
            await self._remote.cancel(query_id, why)
            return
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
        await self._loading.wait(SEARCH_WAITS_S)
        return await asyncio.to_thread(
            search, library, query, course, lesson, limit, why=why
        )

    async def text(
        self, course: str, lesson: int | None, start: int, length: int
    ) -> TextStretch:
        """Reads a stretch of a lesson's text. Raises as `lesson_texts.text_stretch` does."""
        folder = self.settings.data_dir
        own = self._views.library_of(self.principal)
        if own is not None and own.library.holds_itself(course):
            folder = own.data_dir
        return await asyncio.to_thread(
            text_stretch, folder, course, lesson, start, length
        )

    async def suggestions(self, most: int) -> tuple[Suggestion, ...]:
        """Returns questions to begin with, which the index can answer; none where nothing is indexed."""
        library = self._resources.library
        return await asyncio.to_thread(suggestions, library, most)

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets a conversation; its traces stay. Raises NotFoundError where there is no such conversation."""
        await self.store.clear_conversation(session_id)

    async def look(self) -> None:
        """Reads what other processes' queries wait for now, which `running` then shows."""
        await self._begun.look(self._opened)

    def running(self) -> dict[str, tuple[Pending, ...]]:
        """Returns each open query of the caller, and who owes it what."""
        running: dict[str, tuple[Pending, ...]] = {}
        for query_id, session in self._bus.sessions.items():
            if self._opened(query_id):
                running[query_id] = session.pending()
        for query_id, query in self._begun.queries.items():
            if self._opened(query_id):
                running[query_id] = query.pending()
        return running

    def _opened(self, query_id: str) -> bool:
        if self.principal.sees_all:
            return True
        return self._metering.opened(query_id, self.principal.tenant)

    def readiness(self) -> Readiness:
        """Reports the readiness to answer questions now, and what is missing where there is none."""
        return readiness_of(self._resources, self._loading, closing=self._life.closing)

    def worker(self, name: str) -> tuple[Worker, Sweeper]:
        """Returns the part that works on queries of the queue, and the one that looks for those which nobody comes to.

        Raises:
            ConfigurationError: No queue is named.
        """
        sharing = self._service.sharing
        if sharing is None:
            raise ConfigurationError(
                "A worker takes queries from a queue, and none is named: set ANTIPHON_NATS_URL, such as "
                "nats://127.0.0.1:4222, or give it with --queue."
            )
        store = self._service.store
        worker = Worker(
            name,
            sharing,
            followed(store),
            self._history_of,
            places=self.settings.worker_queries,
            drain_s=self.settings.drain_s,
        )
        return worker, Sweeper(sharing, self._history_of, store, store.tenant_of)

    def _history_of(self, query: QueuedQuery) -> History:
        """Returns the recorded queries as whoever asked a query sees them."""
        principal = self._callers.asker(query.key_id, query.tenant)
        return self.seen_by(principal).history

    async def close(self) -> None:
        """Ends every query and lets go of everything."""
        await self.leave()
        await self._resources.close()

    async def leave(self) -> None:
        """Ends every query; the resources stay open, for they may be another service's too."""
        # First of all, so that no query begins while others end.
        self._life.closing = True
        self._admission.close()
        await self._begun.close()
        await self._documents.close()
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        await self._bus.close()
        await self._metering.close()
        self._callers.close()
