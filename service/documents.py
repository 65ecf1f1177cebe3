"""Adds documents, and removes and corrects courses, for callers: a job each, run one at a time in a process."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path

import structlog

# As a module, so that the code for layouts of folders is loaded only if a layout is stored.
from antiphon import knowledge
from antiphon.composition import Settings
from antiphon.composition.embedding import embedder_name
from antiphon.knowledge import IndexSummary, document_paths
from antiphon.service.accepted_jobs import (
    JobOrder,
    accept,
    left_behind,
)
from antiphon.service.indexing_runs import run_indexing
from antiphon.service.indexing_worker import IndexRequest
from antiphon.service.jobs import OVER, Job, JobRecord, Jobs
from antiphon.service.uploads import (
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

log = structlog.get_logger(__name__)

MOST_WAITING = 20
"""Most waiting jobs; a caller who sends more must wait first."""
_BROKEN_OFF = (
    "The indexing was broken off, and nothing was changed: send the files again."
)


class Documents:
    """Adds documents, and removes and corrects courses.

    Attributes:
        reading_layout: Held while the layout of a course is read.

    Args:
        turn: Held by the running job, to serialise the jobs of several folders; None: a lock of its own.
        refresh: Called once the index has changed, so that questions about added documents work when the job is done.
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
        self._jobs = Jobs()
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = turn or asyncio.Lock()

    async def add(self, files: Sequence[SentFile]) -> Job:
        """Receives files and begins to index them; returns the job, with the files that are refused at once.

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
            record = self._jobs.add(job_id, upload.refused)
            record.set(state="done")
            return record.job
        order = JobOrder(
            job_id=job_id, names=upload.names, refused=tuple(upload.refused)
        )
        record = await self._accept(order)
        self._begin(record, self._index(record, upload))
        return record.job

    async def remove(self, title: str) -> Job:
        """Begins to remove a course, with its files if a caller has added them.

        Raises:
            NotFoundError: There is no such course.
            BusyError: Too many jobs wait.
            KnowledgeError: The job cannot be stored.
        """
        self._admit()
        paths = await asyncio.to_thread(document_paths, self._settings.data_dir)
        if title not in paths:
            raise NotFoundError(
                f"There is no course {title[:100]!r}: `GET /api/courses` lists all courses."
            )
        order = JobOrder(job_id=uuid.uuid4().hex, title=title, path=paths[title])
        record = await self._accept(order)
        self._begin(record, self._remove(record, title, Path(order.path)))
        return record.job

    async def lay_out(self, path: str, layout: str) -> Job:
        """Begins to index the course in a folder by another layout, and stores it; an empty one: as its files tell.

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
        """Resumes the jobs that a dead process had accepted."""
        data_dir = self._settings.data_dir
        for accepted in await asyncio.to_thread(left_behind, data_dir):
            order = accepted.order
            log.info("job_resumed", job_id=order.job_id)
            record = self._jobs.add(order.job_id, order.refused, accepted)
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
        """Returns a job as it is now. Raises as `Jobs.find` does."""
        return self._jobs.find(job_id).job

    def follow(self, job_id: str) -> AsyncIterator[Job]:
        """Yields a job whenever it changes, from now to its end. Raises as `Jobs.find` does."""
        return self._jobs.follow(job_id)

    async def close(self) -> None:
        """Cancels running jobs; the index stays unchanged, and the files of unfinished jobs are removed."""
        # Lets new tasks begin: one cancelled before that would not end its job.
        await asyncio.sleep(0)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _admit(self) -> None:
        if len(self._tasks) >= MOST_WAITING:
            raise BusyError(
                "The queue of indexing jobs is full: try again when one of them is done."
            )

    async def _accept(self, order: JobOrder) -> JobRecord:
        accepted = await asyncio.to_thread(accept, self._settings.data_dir, order)
        return self._jobs.add(order.job_id, order.refused, accepted)

    def _begin(self, record: JobRecord, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self._watch(record, work), name="change the index")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _watch(
        self, record: JobRecord, work: Coroutine[None, None, None]
    ) -> None:
        """Does the work, and makes sure that its job ends in any case."""
        try:
            await work
        except (ServiceError, OSError) as error:
            log.warning("indexing_failed", error=str(error))
            record.set(state="failed", error=str(error))
        finally:
            record.forget_order()
            # Followers of the job must not wait for ever, no matter what has ended it.
            if record.job.state not in OVER:
                record.set(state="failed", error=_BROKEN_OFF)

    async def _index(self, record: JobRecord, upload: Upload) -> None:
        try:
            async with self._turn:
                summary = await self._indexed(record, upload)
                # The index has changed, so its files must follow even if the service closes.
                await _to_its_end(self._keep(record, upload, summary))
        finally:
            upload.close()

    async def _indexed(self, record: JobRecord, upload: Upload) -> IndexSummary:
        try:
            await _to_its_end(asyncio.to_thread(upload.place))
            return await run_indexing(record, self._request())
        # Also when cancelled: the files must match the index, which has not changed.
        except BaseException:
            upload.undo()
            raise

    async def _keep(
        self, record: JobRecord, upload: Upload, summary: IndexSummary
    ) -> None:
        left_out = [
            (path, f"it is part of no course: {reason}")
            for path, reason in summary.left_out
        ]
        unused = (*summary.failed, *left_out)
        results = await asyncio.to_thread(upload.results, unused, summary.losses)
        await asyncio.to_thread(self._refresh)
        # Removed before the job is done, so that a caller who hears of that finds no leftovers.
        upload.close()
        record.set(state="done", files=results)

    async def _remove(self, record: JobRecord, title: str, path: Path) -> None:
        async with self._turn:
            # A process that died at this point may have removed the course from the index already.
            paths = await asyncio.to_thread(document_paths, self._settings.data_dir)
            if title in paths:
                await run_indexing(record, self._request(title))
            await _to_its_end(self._delete(record, path))

    async def _delete(self, record: JobRecord, path: Path) -> None:
        await asyncio.to_thread(remove_document, path, self._settings.data_dir)
        await self._finish(record)

    async def _finish(self, record: JobRecord) -> None:
        await asyncio.to_thread(self._refresh)
        record.forget_order()
        record.set(state="done")

    async def _lay_out(self, record: JobRecord, order: JobOrder) -> None:
        async with self._turn:
            stored = await asyncio.to_thread(knowledge.stored_layouts, self.data_dir)
            try:
                await _to_its_end(
                    asyncio.to_thread(self._set_layout, order.path, order.layout)
                )
                folder = folder_to_index(order.path, self.data_dir)
                summary = await run_indexing(record, self._request(folder=folder))
                _check_indexed(order.path, summary)
            # Also when cancelled: the stored layout must be the one in the index.
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


def _check_indexed(path: str, summary: IndexSummary) -> None:
    """Refuses a layout with which indexing the course failed."""
    for failed, reason in summary.failed:
        if failed == path:
            raise KnowledgeError(
                f"The course cannot be indexed like this ({reason}); its layout is as it was."
            )


async def _to_its_end(work: Coroutine[None, None, None]) -> None:
    """Does the work, and waits until it is done even when cancelled.

    A thread cannot be cancelled, and its work must not be undone while it is still running.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    finally:
        await asyncio.wait([task])
