"""The service as a Python object: ask a question, follow its progress, get the answer."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from typing import Any

import structlog

from antiphon.bus import Pending
from antiphon.composition import (
    BuildOutside,
    Interceptor,
    NoInterceptor,
    Outcome,
    Query,
    Runner,
    ServiceResources,
    Settings,
    load_settings,
)
from antiphon.composition.intake import Intake
from antiphon.composition.question import Question
from antiphon.dispatcher import McpServerState
from antiphon.history import Change, ForkPlan, Mode
from antiphon.history.history import History, TraceOf
from antiphon.knowledge import Course
from antiphon.service.archive import Archive
from antiphon.service.asking import Asking, LocalRunner, not_here
from antiphon.service.continuing import Continuing
from antiphon.service.fault_reports import FaultReports
from antiphon.service.guide import (
    EventKind,
    QuerySetting,
    event_kinds,
    query_settings,
)
from antiphon.service.layouts import Layouts
from antiphon.service.lesson_texts import TextStretch, text_stretch
from antiphon.service.opening import callers_of, open_parts
from antiphon.service.readiness import Readiness
from antiphon.service.runtime import Runtime
from antiphon.service.searching import PASSAGES, SearchResult, search
from antiphon.service.short_ids import whole_id
from antiphon.service.suggesting import Suggestion, suggestions
from antiphon.service.upkeep import SEARCH_WAITS_S
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value

log = structlog.get_logger(__name__)

SERVERS_S = 10.0
"""Seconds that `open` waits for MCP servers, unless parts load later."""
_NO_INTERCEPTOR = NoInterceptor()


class Antiphon:
    """Answers questions over the indexed courses. Create one per process with `open`, and `close` it.

    `seen_by` returns another caller's view of the same service.
    """

    def __init__(self, runtime: Runtime, principal: Principal | None = None) -> None:
        """Binds the service to a caller; it reaches only what belongs to that caller."""
        self._runtime = runtime
        self.settings = runtime.settings
        self.totals = runtime.totals
        self.metrics = runtime.metrics
        self.streams = runtime.callers.streams
        self.principal = principal or runtime.callers.without_key
        self._view = runtime.callers.view_of(self.principal)
        self._resources = self._view.resources
        self._shared = self._resources.shared
        self.store: TraceStore = self._view.store
        self.documents = runtime.documents_in(self._view.documents)
        self.layouts = Layouts(self.documents, self.principal, self.courses)
        sessions = runtime.bus.sessions
        self.archive = Archive(
            self.store,
            self.settings,
            self._shared.subscribers,
            sessions,
            self._view.stored_as,
        )
        self.fault_reports = FaultReports(
            self.settings.data_dir, self.archive, self.store
        )
        self._runner: Runner
        waits: Callable[[float], Awaitable[float]] | None = None
        trace_elsewhere: TraceOf | None = None
        if runtime.elsewhere is None:
            self._runner = LocalRunner(
                runtime.bus, runtime.admission, self._shared, self.store, self.totals
            )
            waits = runtime.loading.wait
        else:
            # Other processes search; a process that only takes questions needs no embedder.
            self._runner = runtime.elsewhere.runner(
                self.principal, self.store, self._shared.clock, self.totals, self._end
            )
            trace_elsewhere = self._runner.trace
        intake = Intake(
            self.settings, self._resources, waits, opens=runtime.elsewhere is None
        )
        self._asking = Asking(
            self.principal, runtime, self._shared, self.store, intake, self._runner
        )
        self.history = History(
            runtime.bus,
            self._shared,
            self.store,
            runtime.admit,
            self.totals,
            intake.versions,
            trace_elsewhere,
        )
        self._continuing = Continuing(
            self.principal,
            lambda: self.settings,
            self._shared,
            self.store,
            self.history,
            runtime.callers.metering,
            sessions,
            runtime.admit,
        )

    async def _end(self, query_id: str, why: str, last: Event) -> Query:
        return await self.history.end(query_id, why, last)

    def seen_by(self, principal: Principal) -> Antiphon:
        """Returns a caller's view of this service; it hides the data of others."""
        resources = self._runtime.callers.view_of(principal).resources
        if principal == self.principal and resources is self._resources:
            return self
        return Antiphon(self._runtime, principal)

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Identifies a caller by the key in their request. Takes and raises what `Callers.principal_of` does."""
        return self._runtime.callers.principal_of(key, from_here=from_here)

    def public_principal(self, *, from_here: bool = True) -> Principal:
        """Identifies a caller without a key, for routes that require none."""
        return self._runtime.callers.public_principal(from_here=from_here)

    async def usage(self) -> Value:
        """Returns the caller's usage of today, as the API shows it."""
        return await self._runtime.callers.usage(self.principal)

    @classmethod
    def open(
        cls,
        settings: Settings | None = None,
        subscribers: Sequence[Subscriber] = (),
        *,
        outside: BuildOutside | None = None,
        loads_later: bool = False,
    ) -> Opening:
        """Opens the service with everything that the settings name: `async with Antiphon.open() as service`.

        If awaited instead, it returns the service, and the caller must `close` it.

        Args:
            settings: None: those of the environment and `.env`.
            subscribers: Your own components, which take part in every query, in addition to those that the settings
                name.
            outside: Builds the object that performs the requests of one query; None: models, tools and time by the
                settings.
            loads_later: Leaves embedder and SDK to `load`; questions wait for them.

        Raises:
            ConfigurationError: The settings cannot work.
            KnowledgeError: The index cannot be read.
            TraceError: The trace store cannot be opened.
        """

        async def opened() -> Antiphon:
            chosen = settings or load_settings()
            parts = await open_parts(
                chosen, subscribers, outside=outside, loads_later=loads_later
            )
            runtime = Runtime(chosen, parts.resources, parts.callers, parts.membership)
            servers = parts.resources.tool_servers
            if servers is not None and not loads_later:
                await servers.settled(SERVERS_S)
            return cls(runtime)

        return Opening(opened())

    @classmethod
    def over(cls, settings: Settings, resources: ServiceResources) -> Antiphon:
        """Returns a service over open resources, such as those of a test."""
        return cls(Runtime(settings, resources, callers_of(settings, resources)))

    def load(self) -> None:
        """Starts loading the parts that `open` left out, in the background; `readiness` reports when it is done."""
        self._runtime.loading.begin()

    def check_model_key(self) -> None:
        """Starts checking the key for the model's server, in the background; `readiness` reports the result."""
        self._runtime.check_model_key()

    async def start(
        self,
        question: Question,
        interceptor: Interceptor = _NO_INTERCEPTOR,
        query_id: str | None = None,
        *,
        must_be_stored: bool = False,
    ) -> Query:
        """Starts working on a question.

        Args:
            interceptor: Wraps the ports of this query.
            query_id: The new query's id; None makes one.
            must_be_stored: Return once the query's first event is stored, and refuse the question if it cannot be: for
                routes that promise a caller the answer for later. False: the query is answered even if the store fails.

        Raises:
            BadInputError: The question or one of its settings cannot be used.
            NotFoundError: No such conversation.
            BusyError: Too many queries run or wait, or the service is closing, or the processes that work on queries
                cannot be reached.
            LoadingError: Something that questions need is still being loaded.
            ForbiddenError: It carries faults to inject, and other processes answer.
            TraceError: It must be stored, and could not be.
        """
        # MCP servers may have gained or lost tools since this view was made.
        return await self.seen_by(self.principal)._asking.start(
            question,
            interceptor,
            query_id or uuid.uuid4().hex,
            must_be_stored=must_be_stored,
        )

    async def ask(self, question: Question | str) -> Outcome:
        """Answers a question; cancels its query if the awaiting task is cancelled. Raises as `start` does."""
        if isinstance(question, str):
            question = Question(query=question)
        handle = await self.start(question)
        # A query without a caller would only cost tokens.
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
    ) -> Query:
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
        """Reports the calls and the top cost of such a fork. Takes the arguments of `fork`, and raises as it does."""
        return await self._continuing.plan_fork(
            query_id, at, changes, mode, interceptor
        )

    async def resume(self, query_id: str) -> Query:
        """Resumes an interrupted query for a caller over the network. Raises as `Continuing.resume` does."""
        return await self._continuing.resume(query_id)

    async def resume_unfinished(self) -> Sequence[Query]:
        """Resumes the queries and the document jobs that a dead process left behind, each for its own caller."""
        await self._runtime.resume_documents()
        resumed: list[Query] = []
        if self._runtime.elsewhere is not None:
            counting = self._runtime.callers.count_others(self._query_of)
            self._runtime.keep(counting, "count the rest")
            return resumed
        for query_id in await self._runtime.resources.store.unfinished():
            principal = await self._runtime.callers.opener_of(query_id)
            # A query that cannot resume is left as it is.
            try:
                handle = await self.seen_by(principal).history.resume(query_id)
            except ServiceError as error:
                log.warning("query_not_resumed", query_id=query_id, error=str(error))
                continue
            self._runtime.callers.metering.watch_resumed(principal, handle)
            resumed.append(handle)
        return resumed

    async def find(self, beginning: str) -> str:
        """Finds the one query, recorded or running, whose id has this beginning. Raises as `whole_id` does."""
        # The store may not hold a query that has just begun.
        if beginning in self.running():
            return beginning
        # Usually it is a whole id, which needs no list of traces.
        if await self._runner.knows(beginning):
            return beginning
        return await whole_id(self.store, beginning)

    def _query_of(self, principal: Principal, query_id: str) -> Query:
        """Returns a query as a caller sees it."""
        return self.seen_by(principal).history.query(query_id)

    def recorded(self, query_id: str) -> Query:
        """Returns a query that was started earlier."""
        return self.history.query(query_id)

    async def begun_before(self, query_id: str) -> Query:
        """Returns a query that was started earlier, and makes sure that a process works on it.

        Raises:
            BusyError: The other processes do not answer.
        """
        await self._runner.make_sure(query_id)
        return self.history.query(query_id)

    @property
    def works_here(self) -> bool:
        """True if queries run in this process; False if others work on them."""
        return self._runtime.elsewhere is None

    @property
    def catalog(self) -> Catalog:
        """Every kind of event, those of subscribers included."""
        return self._shared.catalog

    def event_kinds(self) -> tuple[EventKind, ...]:
        """Returns every kind of event, with the handlers that hear it."""
        return event_kinds(self._shared.subscribers)

    def query_settings(self) -> tuple[QuerySetting, ...]:
        """Returns this service's settings of a query."""
        return query_settings(self.settings.query_settings())

    async def cancel(self, query_id: str, why: str) -> None:
        """Cancels a running query; everybody who waits for it gets an answer that says so.

        Raises:
            TraceStateError: It is over, or it does not run here and no other process works on queries.
        """
        session = self._runtime.bus.sessions.get(query_id)
        if session is None:
            await self._runner.cancel(query_id, why)
            return
        if session.over:
            raise not_here(query_id)
        session.cancel(why)

    def courses(self) -> tuple[Course, ...]:
        """Returns the indexed courses that the caller may ask about."""
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
        """Finds passages as the tools do, without answering a question. Raises as `searching.search` does."""
        library = self._resources.library
        await self._runtime.loading.wait(SEARCH_WAITS_S)
        return await asyncio.to_thread(
            search, library, query, course, lesson, limit, why=why
        )

    async def text(
        self, course: str, lesson: int | None, start: int, length: int
    ) -> TextStretch:
        """Reads a stretch of a lesson's text. Raises as `lesson_texts.text_stretch` does."""
        folder = self._view.folder_of(course)
        return await asyncio.to_thread(
            text_stretch, folder, course, lesson, start, length
        )

    async def suggestions(self, most: int) -> tuple[Suggestion, ...]:
        """Returns questions to start with that the index can answer; none if nothing is indexed."""
        library = self._resources.library
        return await asyncio.to_thread(suggestions, library, most)

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets a conversation; its traces stay. Raises NotFoundError if there is no such conversation."""
        await self.store.clear_conversation(session_id)

    async def look(self) -> None:
        """Reads the pending events of queries in other processes, for `running` to show."""
        if self._runtime.elsewhere is not None:
            await self._runtime.elsewhere.look(self._opened)

    def running(self) -> dict[str, tuple[Pending, ...]]:
        """Returns each open query of the caller, with the requests that it is waiting for."""
        running = {
            query_id: session.pending()
            for query_id, session in self._runtime.bus.sessions.items()
            if self._opened(query_id)
        }
        for query_id, trace in self._runtime.under_way_elsewhere.items():
            if self._opened(query_id):
                running[query_id] = trace.pending()
        return running

    def _opened(self, query_id: str) -> bool:
        return self._runtime.callers.metering.opened(self.principal, query_id)

    def tool_servers(self) -> Sequence[McpServerState]:
        """Returns the state of the MCP servers that the settings name."""
        servers = self._resources.tool_servers
        return () if servers is None else servers.states()

    async def check_readiness(self) -> Readiness:
        """Tries to store and to search, unless somebody did a few seconds ago, and reports the readiness."""
        await self._runtime.probe.look(searches=self._runtime.loading.done)
        return self.readiness()

    async def trace_problems(self) -> Sequence[str]:
        """Reads the whole trace store, and returns its problems, a sentence each."""
        return await self._runtime.probe.store_problems()

    def readiness(self) -> Readiness:
        """Reports the readiness to answer questions, and what is missing, from earlier findings alone."""
        # Anybody on the network may ask, but only the owner may read the model server's words about the account.
        in_full = "admin" in self.principal.scopes
        return self._runtime.readiness(self._resources, in_full=in_full)

    async def leave(self) -> None:
        """Ends every query, but keeps the resources open, because another service may use them."""
        await self._runtime.leave()

    async def close(self) -> None:
        """Ends every query and releases all resources."""
        await self._runtime.close()


class Opening:
    """A service about to be opened: await it, or use it with `async with`, which closes it at the end."""

    def __init__(self, opened: Coroutine[Any, Any, Antiphon]) -> None:
        self._opened = opened

    def __await__(self) -> Generator[Any, Any, Antiphon]:
        return self._opened.__await__()

    async def __aenter__(self) -> Antiphon:
        self._service = await self
        return self._service

    async def __aexit__(self, *_: object) -> None:
        await self._service.close()


def ask(question: Question | str, settings: Settings | None = None) -> Outcome:
    """Answers one question, for programs that are not async.

    It opens the service and closes it again: for several questions use `Antiphon.open`.

    Args:
        settings: None: those of the environment and `.env`.

    Raises:
        RuntimeError: An event loop runs here, which this would block.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError(
            "antiphon.ask was called while an event loop runs (an async function, a notebook), and would block it: "
            "use `async with Antiphon.open() as service: answer = await service.ask(…)`."
        )
    return asyncio.run(_ask_once(question, settings))


async def _ask_once(question: Question | str, settings: Settings | None) -> Outcome:
    async with Antiphon.open(settings) as service:
        return await service.ask(question)
