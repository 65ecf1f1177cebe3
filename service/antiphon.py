"""The service as a Python object: ask a question, watch it being worked out, get the answer."""

from __future__ import annotations

import asyncio
import uuid

import structlog
from msgspec.structs import replace

from antiphon.bus import Bus, Pending
from antiphon.composition.building import CourseLibrary, ServiceResources, build
from antiphon.composition.caller import Caller, Outcome
from antiphon.composition.errors import BusyError
from antiphon.composition.handle import QueryHandle
from antiphon.composition.settings import Settings
from antiphon.composition.spending import told_of_prices
from antiphon.composition.totals import Totals
from antiphon.composition.wiring import Interceptor, NoInterceptor, wire
from antiphon.coordinator import receive
from antiphon.history.history import History
from antiphon.knowledge import Course
from antiphon.service.retention import is_limited, keep
from antiphon.vocabulary.errors import ServiceError, TraceError
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.ports import QueryStore, TraceStore
from antiphon.vocabulary.values import QuerySettings, StoredText, Value

log = structlog.get_logger(__name__)

EXCHANGES_REMEMBERED = 2
REFRESH_EVERY_S = 1.0
REMEMBERING_S = 0.5
"""Seconds that looking up the conversation may take of the deadline."""
_NOTHING = NoInterceptor()


class Question:
    """What a caller asks, with the settings that it wants otherwise: `Question(query="What is BM25?", max_rounds=1)`.

    Attributes:
        session_id: The conversation; None begins one.
        settings: All settings of the query at once, in the place of the service's.
        wishes: Those of `vocabulary.settings.WISHES` that the caller chooses, by name; None is the service's setting.
    """

    def __init__(
        self, *, query: str, session_id: str | None = None, settings: QuerySettings | None = None, **wishes: object
    ) -> None:
        self.query = query
        self.session_id = session_id
        self.settings = settings
        self.wishes = {name: value for name, value in wishes.items() if value is not None}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Question) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.query, self.session_id))

    def __repr__(self) -> str:
        return f"Question({self.query!r}, session_id={self.session_id!r}, wishes={self.wishes})"


class Readiness(Value, frozen=True, kw_only=True):
    """Whether questions can be answered, and by what; `problems` says in sentences what is missing."""

    ready: bool
    reasoner: str
    embedder: str | None
    generation: int
    courses: int
    chunks: int
    problems: tuple[str, ...] = ()


class Antiphon:
    """Answers questions over the indexed courses. Make one a process with `open`, and `close` it."""

    def __init__(self, settings: Settings, built: ServiceResources) -> None:
        self.settings = settings
        self.store: TraceStore = built.store
        self._built = built
        self._bus = Bus(built.store, built.parts.clock)
        self.history = History(self._bus, built.parts, built.store, self._admit)
        self._closing = False
        self.totals = Totals()
        self._chores = [asyncio.create_task(self._refresh_library(), name="watch the index")]
        if is_limited(settings):
            keeping = keep(built.store, settings, built.parts.clock)
            self._chores.append(asyncio.create_task(keeping, name="keep the traces"))

    @classmethod
    async def open(cls, settings: Settings) -> Antiphon:
        """Builds every part.

        Raises:
            ConfigurationError: The settings cannot work.
            KnowledgeError: The index cannot be read.
            TraceError: The trace store cannot be opened.
        """
        return cls(settings, await asyncio.to_thread(build, settings))

    async def start(self, question: Question, around: Interceptor = _NOTHING) -> QueryHandle:
        """Begins to work on a question.

        Args:
            around: What stands between this query and its doors.

        Raises:
            BadInputError: The question or a wish cannot be used.
            NotFoundError: No such conversation.
            BusyError: Too many queries run, or the service is closing.
        """
        self._admit()
        store = around.store(self.store)
        received = around.first(self._told_of_provider(await self._receive(question, store)))
        first = self._built.parts.redaction.event(received)
        caller = Caller()
        parts = around.parts(self._built.parts)
        components = around.components(lambda ports: wire(parts, ports, caller).subscriptions())
        session = self._bus.open(uuid.uuid4().hex, components, store=store)
        session.start(first)
        return QueryHandle(session, caller, first.session_id, self.totals)

    async def ask(self, question: Question) -> Outcome:
        """Answers a question; cancels its query when the caller is cancelled. Raises as `start` does."""
        running = await self.start(question)
        try:
            return await running.outcome()
        except asyncio.CancelledError:
            running.cancel("the caller went away")
            raise

    def courses(self) -> tuple[Course, ...]:
        """The courses that can be asked about."""
        return self._library.courses()

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets what was said; the traces stay. Raises NotFoundError where there is no such conversation."""
        await self.store.clear_conversation(session_id)

    def running(self) -> dict[str, tuple[Pending, ...]]:
        """Each open query, and who owes it what."""
        return {query_id: session.pending() for query_id, session in self._bus.sessions.items()}

    def readiness(self) -> Readiness:
        """Whether questions can be answered now."""
        state = self._library.describe()
        empty = () if state.chunks else ("Nothing is indexed yet: run `antiphon index PATH…`.",)
        return Readiness(
            ready=not empty and not self._closing,
            reasoner=self._built.reasoner,
            embedder=state.embedder,
            generation=state.generation,
            courses=state.documents,
            chunks=state.chunks,
            problems=empty,
        )

    async def close(self) -> None:
        """Ends every query and lets go of everything."""
        await self.leave()
        await self._built.close()

    async def leave(self) -> None:
        """Ends every query; what the service was built from stays open, for it may be another's too."""
        self._closing = True
        for chore in self._chores:
            chore.cancel()
        await asyncio.gather(*self._chores, return_exceptions=True)
        await self._bus.close()

    @property
    def _library(self) -> CourseLibrary:
        return self._built.library

    def _told_of_provider(self, first: QueryReceived) -> QueryReceived:
        """The question with the state of the provider's circuit, which its coordinator decides by."""
        parts = self._built.parts
        return replace(first, provider_open=parts.provider_circuit.keeps_out(parts.clock.now()))

    def _admit(self) -> None:
        """Refuses where no further query may begin."""
        if self._closing or len(self._bus.sessions) >= self.settings.concurrent_queries:
            raise BusyError("As many questions as this service allows are being answered: ask again in a moment.")

    async def _receive(self, question: Question, store: QueryStore) -> QueryReceived:
        session_id = question.session_id or uuid.uuid4().hex
        settings = question.settings or self.settings.query_settings()
        first = receive(question.query, session_id, settings, question.wishes, self.settings.query_chars)
        first = told_of_prices(self._described(first), self._built.parts)
        try:
            async with asyncio.timeout(REMEMBERING_S):
                if question.session_id is None:
                    await store.open_conversation(session_id)
                    return first
                history = await store.exchanges(session_id, EXCHANGES_REMEMBERED)
                return replace(first, history=tuple(history))
        except (TraceError, TimeoutError) as error:
            # A store that refuses keeps nobody from an answer: the conversation begins anew, and the answer says so.
            log.warning("conversation_not_read", error=str(error))
            return replace(first, history_missing=question.session_id is not None)

    def _described(self, first: QueryReceived) -> QueryReceived:
        """The question with what the run depends on: courses, tools and versions."""
        titles = "\n".join(course.title for course in self._library.courses())
        versions = (*self._built.versions, ("index", str(self._library.describe().generation)))
        return replace(first, courses=StoredText(titles), tools=self._built.parts.tools.names, versions=versions)

    async def _refresh_library(self) -> None:
        """Switches to a new index when another process has made one."""
        while True:
            await asyncio.sleep(REFRESH_EVERY_S)
            try:
                if await asyncio.to_thread(self._library.refresh):
                    log.info("index_switched", generation=self._library.describe().generation)
            except ServiceError as error:
                log.warning("index_not_switched", error=str(error))
