"""Documents that callers add, courses that they remove or correct: each is a job, done one at a time by a process."""

from __future__ import annotations

import asyncio
import sys
import uuid
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import structlog

# As a module: what tells the layout of folders is loaded only where one is stored.
from antiphon import knowledge
from antiphon.composition import Settings
from antiphon.composition.embedding import embedder_name
from antiphon.knowledge import IndexProgress, IndexSummary, document_paths
from antiphon.service.accepted_jobs import (
    AcceptedJob,
    JobOrder,
    accept,
    left_behind,
)
from antiphon.service.indexing_worker import IndexReport, IndexRequest
from antiphon.service.uploads import (
    FileResult,
    SentFile,
    Upload,
    documents_folder,
    folder_to_index,
    remove_document,
)
from antiphon.vocabulary.errors import (
    BusyError,
    KnowledgeError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.program import child_environment
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

log = structlog.get_logger(__name__)

MOST_WAITING = 20
"""Jobs that may wait; who sends more is told to wait first."""
MOST_KEPT = 200
"""Jobs that are remembered, the newest."""
LINE_BYTES = 16_000_000
"""Most of one line of the process: a summary names each file that failed."""
_LOST = "The indexing process ended before it was done (status {status}); nothing was changed. Try again."
_BROKEN_OFF = (
    "The indexing was broken off, and nothing was changed: send the files again."
)

State = Literal["waiting", "running", "done", "failed"]
OVER: tuple[State, ...] = ("done", "failed")


class Job(Value, frozen=True, kw_only=True):
    """A change of the index, as far as it has come.

    Attributes:
        stage: `files` are read, `documents` embedded, or the index of `vectors` is built; None before the first.
        done: How many of `total` the stage has done; within a large document it is a part of one.
        file: The file that is worked on; empty where none is.
        files: What became of each file that was sent; those that were refused at once are there from the beginning.
        error: Why it failed, in words; None where it did not.
    """

    job_id: str
    state: State = "waiting"
    stage: Literal["files", "documents", "vectors"] | None = None
    done: float = 0
    total: int = 0
    file: str = ""
    files: tuple[FileResult, ...] = ()
    error: str | None = None


class _JobRecord:
    """A job's present state, and those who wait for the next."""

    def __init__(self, job: Job, accepted: AcceptedJob | None) -> None:
        self.job = job
        self._accepted = accepted
        self._changed = asyncio.Event()

    def set(self, **changes: object) -> None:
        self.job = msgspec.structs.replace(self.job, **changes)
        # Whoever waits has the old event; who comes later waits for the next change.
        self._changed.set()
        self._changed = asyncio.Event()

    def forget_order(self) -> None:
        """Lets nobody go on with the job: it is over."""
        if self._accepted is not None:
            self._accepted.close()

    async def changed(self) -> None:
        await self._changed.wait()


class Documents:
    """Adds documents, and removes and corrects courses.

    Attributes:
        reading_layout: Held while the layout of a course is read.

    Args:
        turn: Held by the job under way; None: by one of these alone.
        refresh: Called once the index has changed, so that what was added can be asked about when its job is done.
    """

    def __init__(
        self,
        settings: Settings,
        refresh: Callable[[], object],
        turn: asyncio.Lock | None = None,
    ) -> None:
        self.data_dir = settings.data_dir
        self.reading_layout = asyncio.Lock()
        self._settings = settings
        self._refresh = refresh
        self._jobs: dict[str, _JobRecord] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = turn or asyncio.Lock()

    async def add(self, files: Sequence[SentFile]) -> Job:
        """Takes files in and begins to index them; returns the job, with the files that are refused at once.

        Raises:
            BusyError: Too many jobs wait.
            KnowledgeError: The job cannot be stored.
        """
        self._admit()
        job_id = uuid.uuid4().hex
        upload = Upload(self._settings.data_dir, job_id)
        await asyncio.to_thread(upload.receive, files)
        if not upload.names:
            upload.close()
            record = self._record(job_id, upload.refused)
            record.set(state="done")
            return record.job
        order = JobOrder(
            job_id=job_id, names=upload.names, refused=tuple(upload.refused)
        )
        record = await self._accept(order)
        self._begin(record, self._index(record, upload))
        return record.job

    async def remove(self, title: str) -> Job:
        """Begins to remove a course; a file that a caller has added goes with it.

        Raises:
            NotFoundError: There is no such course.
            BusyError: Too many jobs wait.
            KnowledgeError: The job cannot be stored.
        """
        self._admit()
        paths = await asyncio.to_thread(document_paths, self._settings.data_dir)
        if title not in paths:
            raise NotFoundError(
                f"There is no course {title[:100]!r}: `GET /api/courses` lists those there are."
            )
        order = JobOrder(job_id=uuid.uuid4().hex, title=title, path=paths[title])
        record = await self._accept(order)
        self._begin(record, self._remove(record, title, Path(order.path)))
        return record.job

    async def lay_out(self, path: str, layout: str) -> Job:
        """Begins to index the course in a folder by another layout, which is stored; an empty one: as its files tell.

        Raises:
            BusyError: Too many jobs wait.
            KnowledgeError: The job cannot be stored.
        """
        self._admit()
        order = JobOrder(job_id=uuid.uuid4().hex, path=path, layout=layout)
        record = await self._accept(order)
        self._begin(record, self._lay_out(record, order))
        return record.job

    async def resume(self) -> None:
        """Goes on with the jobs that a process which died had accepted."""
        data_dir = self._settings.data_dir
        for accepted in await asyncio.to_thread(left_behind, data_dir):
            order = accepted.order
            log.info("job_resumed", job_id=order.job_id)
            record = self._record(order.job_id, order.refused, accepted)
            if order.title:
                work = self._remove(record, order.title, Path(order.path))
            elif order.path:
                work = self._lay_out(record, order)
            else:
                upload = Upload.left_behind(
                    data_dir, order.job_id, order.names, order.refused
                )
                work = self._index(record, upload)
            self._begin(record, work)

    def job(self, job_id: str) -> Job:
        """Returns a job as it is now.

        Raises:
            NotFoundError: There is none, or none any more.
        """
        return self._find(job_id).job

    async def follow(self, job_id: str) -> AsyncIterator[Job]:
        """Yields a job whenever it changes, from now to its end. Raises as `job` does."""
        record = self._find(job_id)
        while True:
            job = record.job
            yield job
            if job.state in OVER:
                return
            # While it was sent, it may have changed.
            if record.job is job:
                await record.changed()

    async def close(self) -> None:
        """Ends what runs; the index stays as it was, and files whose job was not done are gone."""
        # A task that has not begun would be cancelled without ending its job.
        await asyncio.sleep(0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _admit(self) -> None:
        if len(self._tasks) >= MOST_WAITING:
            raise BusyError(
                "As many indexing jobs as may wait do so: try again when one of them is done."
            )

    async def _accept(self, order: JobOrder) -> _JobRecord:
        accepted = await asyncio.to_thread(accept, self._settings.data_dir, order)
        return self._record(order.job_id, order.refused, accepted)

    def _record(
        self,
        job_id: str,
        files: Sequence[FileResult],
        accepted: AcceptedJob | None = None,
    ) -> _JobRecord:
        record = _JobRecord(Job(job_id=job_id, files=tuple(files)), accepted)
        self._jobs[record.job.job_id] = record
        for old in list(self._jobs)[:-MOST_KEPT]:
            if self._jobs[old].job.state in OVER:
                del self._jobs[old]
        return record

    def _find(self, job_id: str) -> _JobRecord:
        if job_id not in self._jobs:
            raise NotFoundError(
                "There is no such job any more: they are remembered until the service stops, the newest of them."
            )
        return self._jobs[job_id]

    def _begin(self, record: _JobRecord, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self._watch(record, work), name="change the index")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watch(
        self, record: _JobRecord, work: Coroutine[None, None, None]
    ) -> None:
        """Does the work, and sees to it that its job ends in any case."""
        try:
            await work
        except (ServiceError, OSError) as error:
            log.warning("indexing_failed", error=str(error))
            record.set(state="failed", error=str(error))
        finally:
            record.forget_order()
            # Whoever follows the job must not wait for ever, whatever has ended it.
            if record.job.state not in OVER:
                record.set(state="failed", error=_BROKEN_OFF)

    async def _index(self, record: _JobRecord, upload: Upload) -> None:
        try:
            async with self._turn:
                summary = await self._indexed(record, upload)
                # The index has changed: its files follow, also where the service closes.
                await _to_its_end(self._keep(record, upload, summary))
        finally:
            upload.close()

    async def _indexed(self, record: _JobRecord, upload: Upload) -> IndexSummary:
        try:
            await _to_its_end(asyncio.to_thread(upload.place))
            return await self._run(record, self._request())
        except BaseException:
            upload.undo()
            raise

    async def _keep(
        self, record: _JobRecord, upload: Upload, summary: IndexSummary
    ) -> None:
        left_out = [
            (path, f"it is part of no course: {reason}")
            for path, reason in summary.left_out
        ]
        unused = (*summary.failed, *left_out)
        results = await asyncio.to_thread(upload.results, unused, summary.losses)
        await asyncio.to_thread(self._refresh)
        # Who hears that a job is done finds nothing of it kept aside.
        upload.close()
        record.set(state="done", files=results)

    async def _remove(self, record: _JobRecord, title: str, path: Path) -> None:
        async with self._turn:
            # A process that died then may have taken it out of the index.
            paths = await asyncio.to_thread(document_paths, self._settings.data_dir)
            if title in paths:
                await self._run(record, self._request(title))
            await _to_its_end(self._delete(record, path))

    async def _delete(self, record: _JobRecord, path: Path) -> None:
        await asyncio.to_thread(remove_document, path, self._settings.data_dir)
        await self._finish(record)

    async def _finish(self, record: _JobRecord) -> None:
        await asyncio.to_thread(self._refresh)
        record.forget_order()
        record.set(state="done")

    async def _lay_out(self, record: _JobRecord, order: JobOrder) -> None:
        async with self._turn:
            stored = await asyncio.to_thread(knowledge.stored_layouts, self.data_dir)
            try:
                await _to_its_end(
                    asyncio.to_thread(self._set_layout, order.path, order.layout)
                )
                folder = folder_to_index(order.path, self.data_dir)
                summary = await self._run(record, self._request(folder=folder))
                _check_indexed(order.path, summary)
            except BaseException:
                self._set_layout(order.path, stored.get(order.path, ""))
                raise
            await _to_its_end(self._finish(record))

    def _set_layout(self, path: str, layout: str) -> None:
        """Stores the layout of a folder, or forgets it if it is empty."""
        if layout:
            knowledge.store_layout(path, layout, self.data_dir)
        else:
            knowledge.drop_layout(path, self.data_dir)

    def _request(self, title: str = "", folder: Path | None = None) -> IndexRequest:
        settings = self._settings
        return IndexRequest(
            data_dir=str(settings.data_dir),
            folder=str(folder or documents_folder(settings.data_dir)),
            embedder=embedder_name(settings),
            embedding_model=settings.embedding_model,
            chroma_url=settings.chroma_url,
            title=title,
            readers=settings.readers,
        )

    async def _run(self, record: _JobRecord, request: IndexRequest) -> IndexSummary:
        """Runs the process to its end.

        Raises:
            KnowledgeError: It could not do what was asked, or ended before it had.
        """
        record.set(state="running")
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "antiphon.service.indexing_worker"),
            stdin=PIPE,
            stdout=PIPE,
            env=child_environment(),
            # Ctrl-C is for the service, which ends this one too.
            start_new_session=True,
            limit=LINE_BYTES,
        )
        try:
            return await _summary_of(process, request, record)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


def _check_indexed(path: str, summary: IndexSummary) -> None:
    """Refuses a layout by which the course could not be indexed."""
    for failed, reason in summary.failed:
        if failed == path:
            raise KnowledgeError(
                f"The course cannot be indexed so ({reason}); its layout is as it was."
            )


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Does the work, and waits until it is done even when cancelled.

    A thread cannot be cancelled: what it does must not be undone while it is still at it.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    finally:
        await asyncio.wait([task])


async def _summary_of(
    process: Process, request: IndexRequest, record: _JobRecord
) -> IndexSummary:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(request))
    process.stdin.close()
    async for line in process.stdout:
        report = msgspec.json.decode(line, type=prepared(IndexReport))
        if report.error:
            raise KnowledgeError(report.error)
        if report.summary is not None:
            return report.summary
        if report.progress is not None:
            _show(record, report.progress)
    raise KnowledgeError(_LOST.format(status=await process.wait()))


def _show(record: _JobRecord, now: IndexProgress) -> None:
    # Within a large document its passages are counted.
    done: float = now.done
    if now.chunks:
        done += now.chunks_done / now.chunks
    file = Path(now.path).name
    record.set(stage=now.stage, done=done, total=now.total, file=file)
