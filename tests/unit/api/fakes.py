"""The service in a few lines, for the tests of the API."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from antiphon.access.streams import TenantStreams
from antiphon.api.telemetry import Metrics
from antiphon.service import (
    Change,
    Course,
    EventKind,
    ForkPlan,
    FoundPassage,
    Interceptor,
    Mode,
    Pending,
    QuerySetting,
    Question,
    Readiness,
    SearchResult,
    Settings,
    Suggestion,
    TextStretch,
    Totals,
    UsageReport,
    event_kinds,
    query_settings,
    whole_id,
)
from antiphon.vocabulary.access import OWNER, Principal
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import (
    BadInputError,
    NotFoundError,
    ServiceError,
    TraceStateError,
)
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    TextDelta,
)
from antiphon.vocabulary.values import Passage, QuerySettings, Usage
from tests.fakes import MemoryTraceStore
from tests.story import placed
from tests.unit.api.fakes_parts import (
    COURSES,
    RESPONSE,
    FakeArchive,
    FakeAsked,
    FakeDocuments,
    FakeFaultReports,
    FakeHistory,
    FakeLayouts,
    Told,
)


class FakeService:
    """Answers every question alike, at once unless `held`."""

    def __init__(
        self,
        *,
        held: bool = False,
        fails: BaseException | None = None,
        ready: bool = True,
    ) -> None:
        self.store = MemoryTraceStore()
        self.history = FakeHistory(self.store)
        self.archive = FakeArchive(self.store)
        self.documents = FakeDocuments()
        self.layouts = FakeLayouts()
        self.fault_reports = FakeFaultReports()
        self.catalog = BUILT_IN
        self.settings = Settings.model_construct()
        self.metrics: Metrics | None = None
        self.asked: list[FakeAsked] = []
        self.began = asyncio.Event()
        self.questions: list[Question] = []
        self.refuses: BaseException | None = None
        self.passages: tuple[Passage, ...] = ()
        self.searched: list[tuple[str, str | None, str | None, int]] = []
        self.closed = False
        self.works_here = True
        self.streams = TenantStreams(200)
        self.principal = OWNER
        self._held = held
        self._fails = fails
        self._ready = ready

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        return self.principal

    def public_principal(self, *, from_here: bool = True) -> Principal:
        return self.principal

    def seen_by(self, principal: Principal) -> FakeService:
        return self

    async def usage(self) -> UsageReport:
        return UsageReport(day="2026-11-23", resets_at=1_795_478_400.0)

    async def resume_unfinished(self) -> Sequence[FakeAsked]:
        return []

    async def find(self, beginning: str) -> str:
        return await whole_id(self.store, beginning)

    async def fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        around: Interceptor | None = None,
        /,
    ) -> FakeAsked:
        return await self.history.fork(query_id, at, changes, mode, around)

    async def plan_fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        around: Interceptor | None = None,
        /,
    ) -> ForkPlan:
        if changes and changes[0].kind == "drop":
            raise BadInputError("Nothing in the trace is called so.")
        return ForkPlan(
            parent=query_id,
            shared=at or 1,
            mode=mode,
            models=("claude",),
            calls=2,
            tools=("search",),
            effects=(),
            recorded_usage=Usage(),
            may_cost=True,
            sentence="Live: claude.",
        )

    async def resume(self, query_id: str) -> FakeAsked:
        raise TraceStateError(f"query {query_id} is over")

    def recorded(self, query_id: str) -> FakeAsked:
        return next(asked for asked in self.asked if asked.query_id == query_id)

    async def begun_before(self, query_id: str) -> FakeAsked:
        return self.recorded(query_id)

    async def cancel(self, query_id: str, why: str) -> None:
        self.recorded(query_id).cancel(why)

    async def start(
        self,
        question: Question,
        around: object = None,
        query_id: str | None = None,
        /,
        *,
        must_be_stored: bool = False,
    ) -> FakeAsked:
        if self.refuses is not None:
            raise self.refuses
        if not question.query.strip():
            raise BadInputError("The question is empty: send some text in `query`.")
        session_id = question.session_id or "s-new"
        query_id = query_id or f"q-{len(self.asked) + 1}"
        events = await self._record(query_id, question.query, session_id)
        told: list[Told] = [
            events[0],
            TextDelta(call_id="c1", text="BM25 "),
            *events[1:],
        ]
        asked = FakeAsked(query_id, session_id, told, self._fails)
        self.asked.append(asked)
        self.questions.append(question)
        self.began.set()
        if not self._held:
            asked.release()
        return asked

    async def _record(
        self, query_id: str, query: str, session_id: str
    ) -> list[Recorded[Any]]:
        said: list[Event] = [
            QueryReceived(query=query, session_id=session_id, settings=QuerySettings()),
            RESPONSE,
            QueryClosed(status="answered"),
        ]
        events = placed(query_id, said)
        await self.store.append(query_id, 0, events)
        return events

    def event_kinds(self) -> Sequence[EventKind]:
        return event_kinds(())

    def query_settings(self) -> Sequence[QuerySetting]:
        return query_settings(QuerySettings())

    def courses(self) -> Sequence[Course]:
        return COURSES

    async def search(
        self,
        query: str,
        course: str | None,
        lesson: str | None,
        limit: int,
        /,
        *,
        why: bool,
    ) -> SearchResult:
        """Finds what `passages` holds, in the one course that there is."""
        if self.refuses is not None:
            raise self.refuses
        self.searched.append((query, course, lesson, limit))
        title = None if course is None else COURSES[0].title
        number = None if lesson is None else int(lesson)
        passages = [FoundPassage.of(passage, why=why) for passage in self.passages]
        return SearchResult(
            query=query, course=title, lesson=number, passages=tuple(passages[:limit])
        )

    async def text(
        self, course: str, lesson: int | None, start: int, length: int
    ) -> TextStretch:
        if course != COURSES[0].title:
            raise NotFoundError("There is no such lesson.")
        whole = "BM25 is good. It ranks."
        return TextStretch(
            course=course,
            lesson=lesson,
            title="BM25",
            file="search.txt",
            start=start,
            length=len(whole),
            sha256="0" * 64,
            text=whole[start : start + length],
        )

    async def suggestions(self, most: int) -> Sequence[Suggestion]:
        """One question a course."""
        made = [
            Suggestion(question="What is BM25?", course=course.title, lesson=2)
            for course in COURSES
        ]
        return made[:most]

    async def clear_conversation(self, session_id: str) -> None:
        await self.store.clear_conversation(session_id)

    async def look(self) -> None:
        """Finds nothing new."""

    def running(self) -> dict[str, tuple[Pending, ...]]:
        waiting = Pending(
            outcomes=(ReasoningCompleted,), subject="c1", since_seq=4, since_at=1.5
        )
        return {asked.query_id: (waiting,) for asked in self.asked}

    @property
    def totals(self) -> Totals:
        return Totals()

    def readiness(self) -> Readiness:
        problems = (
            ()
            if self._ready
            else ("Nothing is indexed yet: run `antiphon index PATH…`.",)
        )
        return Readiness(
            ready=self._ready,
            reasoner="offline",
            embedder="onnx",
            generation=1,
            courses=1,
            chunks=1,
            problems=problems,
            refusing=problems,
        )

    async def check_readiness(self) -> Readiness:
        return self.readiness()

    async def close(self) -> None:
        self.closed = True


def refusing(error: ServiceError | Exception) -> FakeService:
    """A service that cannot begin a query."""
    service = FakeService()
    service.refuses = error
    return service
