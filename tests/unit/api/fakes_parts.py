"""The parts of a service in a few lines: queries, traces, their archive, documents, reports of faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from msgspec.structs import replace

from antiphon.knowledge import Lesson
from antiphon.service import (
    Change,
    Course,
    Diff,
    FaultReport,
    FileResult,
    Interceptor,
    Job,
    Mode,
    Outcome,
    RegressionTest,
    ReplayResult,
    SentFile,
    diff,
    read_trace_file,
    trace_file,
)
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.events import (
    Event,
    Live,
    Recorded,
    ResponseAssembled,
    Status,
)
from antiphon.vocabulary.values import Citation, Indicator, Usage
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
        self.outlives_caller = False
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

    def leave(self, why: str) -> None:
        if not self.outlives_caller:
            self.cancel(why)


class FakeHistory:
    """Replays every trace alike, and follows what is stored."""

    def __init__(self, store: MemoryTraceStore) -> None:
        self._store = store
        self.begun: list[FakeAsked] = []
        self.held = False
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
        self.begun.append(asked)
        if not self.held:
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


class FakeLayouts:
    """No course is a folder."""

    async def titles(self) -> frozenset[str]:
        return frozenset()


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
