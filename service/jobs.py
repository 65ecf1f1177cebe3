"""Jobs that change the index: their progress, and those who wait for the next state."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Literal

import msgspec

from antiphon.service.accepted_jobs import AcceptedJob
from antiphon.service.uploads import FileResult
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.values import Value

MOST_KEPT = 200
"""The number of newest jobs to remember."""

State = Literal["waiting", "running", "done", "failed"]
OVER: tuple[State, ...] = ("done", "failed")


class Job(Value, frozen=True, kw_only=True):
    """A change of the index, as far as it has come.

    Attributes:
        stage: `files` are read, `documents` embedded, or the index of `vectors` is built; None before the first.
        done: How many of `total` the stage has done; within a large document it is a part of one.
        file: The file that is worked on; empty if none is.
        files: What became of each file that was sent; those that were refused at once are there from the beginning.
        error: Why it failed, in words; None if it did not.
    """

    job_id: str
    state: State = "waiting"
    stage: Literal["files", "documents", "vectors"] | None = None
    done: float = 0
    total: int = 0
    file: str = ""
    files: tuple[FileResult, ...] = ()
    error: str | None = None


class JobRecord:
    """A job's current state, and the tasks that wait for the next."""

    def __init__(self, job: Job, accepted: AcceptedJob | None) -> None:
        self.job = job
        self._accepted = accepted
        self._changed = asyncio.Event()

    def set(self, **changes: object) -> None:
        self.job = msgspec.structs.replace(self.job, **changes)
        # Waiting tasks hold the old event; later ones wait for the next change.
        self._changed.set()
        self._changed = asyncio.Event()

    def forget_order(self) -> None:
        """Deletes the order of a finished job, so that no process resumes it."""
        if self._accepted is not None:
            self._accepted.close()

    async def changed(self) -> None:
        await self._changed.wait()


class Jobs:
    """The remembered jobs."""

    def __init__(self) -> None:
        self._records: dict[str, JobRecord] = {}

    def add(
        self,
        job_id: str,
        files: Sequence[FileResult],
        accepted: AcceptedJob | None = None,
    ) -> JobRecord:
        """Remembers a job, and forgets the oldest finished ones."""
        record = JobRecord(Job(job_id=job_id, files=tuple(files)), accepted)
        self._records[job_id] = record
        for old in list(self._records)[:-MOST_KEPT]:
            if self._records[old].job.state in OVER:
                del self._records[old]
        return record

    def find(self, job_id: str) -> JobRecord:
        """Returns a job.

        Raises:
            NotFoundError: There is none with that id, or it is forgotten.
        """
        if job_id not in self._records:
            raise NotFoundError(
                "There is no such job any more: the service remembers only the newest ones, until it stops."
            )
        return self._records[job_id]

    async def follow(self, job_id: str) -> AsyncIterator[Job]:
        """Yields a job whenever it changes, from now to its end. Raises as `find` does."""
        record = self.find(job_id)
        while True:
            job = record.job
            yield job
            if job.state in OVER:
                return
            # It may have changed while the consumer took it.
            if record.job is job:
                await record.changed()
