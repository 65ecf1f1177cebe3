"""Runs the process that changes the index: sends its request, and reads its progress and its result."""

from __future__ import annotations

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path

import msgspec

from antiphon.knowledge import IndexProgress, IndexSummary
from antiphon.service.indexing_worker import IndexReport, IndexRequest
from antiphon.service.jobs import JobRecord
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.program import child_environment
from antiphon.vocabulary.typed import prepared

LINE_BYTES = 16_000_000
"""Most bytes of one line from the process: a summary names each file that failed."""
_LOST = "The indexing process ended before it was done (status {status}); nothing was changed. Try again."


async def run_indexing(record: JobRecord, request: IndexRequest) -> IndexSummary:
    """Runs the process to its end.

    Raises:
        KnowledgeError: It failed, or ended before it was done.
    """
    record.set(state="running")
    process = await asyncio.create_subprocess_exec(
        # -P keeps the current folder from the front of the path, so that its modules shadow no others.
        *(sys.executable, "-P", "-m", "antiphon.service.indexing_worker"),
        stdin=PIPE,
        stdout=PIPE,
        env=child_environment(),
        # Ctrl-C must reach only the service, which ends this process itself.
        start_new_session=True,
        limit=LINE_BYTES,
    )
    try:
        return await _summary_of(process, request, record)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _summary_of(
    process: Process, request: IndexRequest, record: JobRecord
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


def _show(record: JobRecord, now: IndexProgress) -> None:
    # Within a large document, the passages count.
    done: float = now.done
    if now.chunks:
        done += now.chunks_done / now.chunks
    file = Path(now.path).name
    record.set(stage=now.stage, done=done, total=now.total, file=file)
