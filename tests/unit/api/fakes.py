"""The service in a few lines, and a caller of an ASGI app that needs no server: both for the tests of the API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI
from msgspec.structs import replace

from antiphon.api import InterceptorOf, create_app
from antiphon.api.telemetry import Metrics
from antiphon.knowledge import Lesson
from antiphon.service import (
    Change,
    Course,
    Diff,
    EventKind,
    FaultReport,
    FileResult,
    ForkPlan,
    FoundPassage,
    Interceptor,
    Job,
    Mode,
    Outcome,
    Pending,
    QuerySetting,
    Question,
    Readiness,
    RegressionTest,
    ReplayResult,
    SearchResult,
    SentFile,
    Settings,
    Suggestion,
    TextStretch,
    Totals,
    UsageReport,
    diff,
    event_kinds,
    query_settings,
    read_trace_file,
    trace_file,
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
    Live,
    QueryClosed,
    QueryReceived,
    ReasoningCompleted,
    Recorded,
    ResponseAssembled,
    Status,
    TextDelta,
)
from antiphon.vocabulary.values import (
    Citation,
    Indicator,
    Passage,
    QuerySettings,
    Usage,
)
from tests.fakes import MemoryTraceStore
from tests.story import placed

Told = Recorded[Event] | Live

SOURCE = "Practical Search - Lesson 2"
RESPONSE = ResponseAssembled(
    answer="BM25 is good.",
    sources=(SOURCE,),
    source_links=(None,),
    citations=(
        Citation(
            start=0,
            end=13,
            cited_text="BM25 is good.",
            source=SOURCE,
            fact="f1",
            course="Practical Search",
        ),
    ),
    confidence="medium",
    indicators=(Indicator(kind="round_limit", detail="More was wanted.", event_seq=3),),
    rounds=1,
    reasoner="offline",
    calls=2,
    usage=Usage(input_tokens=10, output_tokens=3),
)
COURSES = (
    Course(
        title="Practical Search",
        link="https://x.example",
        instructor="A",
        chunks=1,
        lessons=(Lesson(number=2, title="BM25"),),
    ),
)


class FakeAsked:
    """A query whose events are given; it ends when `release` is called, or when it is cancelled."""

    def __init__(
        self,
        query_id: str,
        session_id: str,
        told: Sequence[Told],
        fails: BaseException | None,
    ) -> None:
        self.query_id = query_id
        self.session_id = session_id
        self.cancelled: list[str] = []
        self._told = told
        self._fails = fails
        self._over = asyncio.Event()

    def release(self) -> None:
        """Lets the answer come."""
        self._over.set()

    async def follow(self) -> AsyncIterator[Told]:
        for told in self._told:
            yield told
        await self._over.wait()

    async def outcome(self) -> Outcome:
        await self._over.wait()
        if self._fails is not None:
            raise self._fails
        status: Status = "cancelled" if self.cancelled else "answered"
        return Outcome(
            query_id=self.query_id,
            session_id=self.session_id,
            response=RESPONSE,
            status=status,
            duration_ms=12.5,
        )

    def cancel(self, why: str) -> None:
        if not self._over.is_set():
            self.cancelled.append(why)
            self._over.set()


class FakeHistory:
    """Replays every trace alike, and follows what is stored."""

    def __init__(self, store: MemoryTraceStore) -> None:
        self._store = store
        self.forks: list[
            tuple[str, int | None, tuple[Change, ...], Mode, Interceptor | None]
        ] = []

    async def replay(self, query_id: str) -> ReplayResult:
        events = await self._store.read(query_id)
        return ReplayResult(
            query_id=query_id, events=len(events), compared=1, closed=True
        )

    async def diff(self, query_id: str, other_id: str) -> Diff:
        return diff(await self._store.read(query_id), await self._store.read(other_id))

    async def follow(self, query_id: str, after: int = 0) -> AsyncIterator[Told]:
        for said in await self._store.read(query_id, after):
            yield said

    async def fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        around: Interceptor | None = None,
    ) -> FakeAsked:
        events = await self._store.read(query_id)
        if changes and changes[0].kind == "drop":
            raise BadInputError("Nothing in the trace is called so.")
        self.forks.append((query_id, at, tuple(changes), mode, around))
        first = replace(
            events[0].event,
            parent=query_id,
            parent_seq=at or 1,
            change="; ".join(map(str, changes)),
        )
        forked = placed(
            f"{query_id}-fork", [first, *(said.event for said in events[1:])]
        )
        await self._store.append(f"{query_id}-fork", 0, forked)
        asked = FakeAsked(f"{query_id}-fork", "s-new", forked, None)
        asked.release()
        return asked


class FakeArchive:
    """Hands out and takes in traces of a few lines."""

    def __init__(self, store: MemoryTraceStore) -> None:
        self._store = store
        self.deleted: list[str] = []

    def id_of(self, query_id: str) -> str:
        return query_id

    async def export(self, query_id: str) -> bytes:
        return trace_file(await self._store.read(query_id))

    async def add(self, file: bytes) -> Sequence[Recorded[Event]]:
        events = read_trace_file(file)
        await self._store.append(events[0].query_id, 0, events)
        return events

    async def regression_test(self, query_id: str) -> RegressionTest:
        data = await self.export(query_id)
        return RegressionTest(
            trace_name="x.jsonl", trace=data.decode(), test_name="test_x.py", test=""
        )

    async def delete(self, query_id: str) -> None:
        self.deleted.append(query_id)

    async def delete_conversation(self, session_id: str) -> int:
        self.deleted.append(session_id)
        return 1


class FakeDocuments:
    """Takes files in and removes courses, each at once; a text file is added, any other refused."""

    def __init__(self) -> None:
        self.sent: dict[str, bytes] = {}
        self.removed: list[str] = []
        self._jobs: dict[str, Job] = {}

    async def add(self, files: Sequence[SentFile]) -> Job:
        results = []
        for file in files:
            self.sent[file.name] = file.content.read()
            if file.name.endswith(".txt"):
                results.append(FileResult(name=file.name, status="added"))
            else:
                refused = FileResult(name=file.name, status="refused", reason="no text")
                results.append(refused)
        return self._done(files=tuple(results))

    async def remove(self, title: str) -> Job:
        if title != COURSES[0].title:
            raise NotFoundError(f"There is no course {title!r}.")
        self.removed.append(title)
        return self._done()

    def job(self, job_id: str) -> Job:
        if job_id not in self._jobs:
            raise NotFoundError("There is no such job any more.")
        return self._jobs[job_id]

    async def follow(self, job_id: str) -> AsyncIterator[Job]:
        job = self.job(job_id)
        yield replace(job, state="running", files=())
        yield job

    def _done(self, files: tuple[FileResult, ...] = ()) -> Job:
        job = Job(job_id=f"j-{len(self._jobs) + 1}", state="done", files=files)
        self._jobs[job.job_id] = job
        return job


class FakeFaultReports:
    """Keeps a report where a test gives it one, and the traces that it names."""

    def __init__(self) -> None:
        self.report: FaultReport | None = None
        self.traces: dict[str, int] = {}

    async def read(self) -> FaultReport | None:
        return self.report

    async def open_trace(self, query_id: str) -> int:
        if query_id not in self.traces:
            raise NotFoundError(f"The report has no trace {query_id!r}.")
        return self.traces[query_id]


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
        self.principal = OWNER
        self._held = held
        self._fails = fails
        self._ready = ready

    def principal_of(self, key: str | None) -> Principal:
        return self.principal

    def public_principal(self) -> Principal:
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

    async def cancel(self, query_id: str, why: str) -> None:
        self.recorded(query_id).cancel(why)

    async def start(
        self,
        question: Question,
        around: object = None,
        query_id: str | None = None,
        /,
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
        )

    async def close(self) -> None:
        self.closed = True


def app_of(
    service: FakeService, interceptor_of: InterceptorOf | None = None, **settings: Any
) -> FastAPI:
    """The app over `service`, open; settings are the defaults but for those given."""

    async def opened(_: Settings) -> FakeService:
        return service

    app = create_app(Settings.model_construct(**settings), opened, interceptor_of)
    app.state.service = service
    return app


@dataclass
class Reply:
    """What an app sent, as it comes."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, str]:
        """The error in its one shape."""
        body = self.json()
        assert list(body) == ["error"]
        error: dict[str, str] = body["error"]
        assert {"code", "message"} <= set(error) <= {"code", "message", "query_id"}
        return error


class Browser:
    """Calls an app as a server would; `leave` hangs up on the call under way."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app
        self._left = asyncio.Event()
        self.reply = Reply()

    def leave(self) -> None:
        """Hangs up."""
        self._left.set()

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.call("GET", path, (), headers)

    async def post(self, path: str, body: object, **headers: str) -> Reply:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.call(
            "POST", path, (sent,), {"content_type": "application/json"} | headers
        )

    async def call(
        self, method: str, path: str, body: Sequence[bytes], headers: dict[str, str]
    ) -> Reply:
        """One request; header names have `_` for `-`, and an empty value leaves one out."""
        pieces = list(body) or [b""]
        sent = {"host": "localhost:8000"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.encode(), value.encode()) for name, value in sent.items() if value
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }

        async def receive() -> dict[str, object]:
            if pieces:
                piece = pieces.pop(0)
                return {
                    "type": "http.request",
                    "body": piece,
                    "more_body": bool(pieces),
                }
            await self._left.wait()
            return {"type": "http.disconnect"}

        await self._app(scope, receive, self._send)
        return self.reply

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.reply.status = message["status"]
            self.reply.headers = {
                name.decode(): value.decode() for name, value in message["headers"]
            }
        else:
            self.reply.body += message.get("body", b"")
            self.reply.arrived.set()


def refusing(error: ServiceError | Exception) -> FakeService:
    """A service that cannot begin a query."""
    service = FakeService()
    service.refuses = error
    return service


def events_in(body: bytes) -> list[tuple[str, str | None, Any]]:
    """Each server-sent event as its kind, its id and its data."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(
            line.split(": ", 1)
            for line in block.splitlines()
            if not line.startswith(":")
        )
        if lines:
            found.append((lines["event"], lines.get("id"), json.loads(lines["data"])))
    return found
