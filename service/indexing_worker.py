"""The process that indexes for the service: it reads one request, and reports progress and result a line each.

A separate process, because Chroma's writes hold the interpreter lock for long, and a document may crash it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

# As a module: the service imports this file for its values, and must not load the code for indexing.
from antiphon import knowledge
from antiphon.knowledge import IndexProgress, IndexSummary
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

ReportProgress = Callable[[IndexProgress], None]


class IndexRequest(Value, frozen=True, kw_only=True):
    """A request to index documents, or to remove a course.

    Attributes:
        folder: The folder whose documents to read; documents from elsewhere stay.
        title: The course to remove instead; empty for indexing.
        embedder: `minilm` or `onnx`.
        readers: The user's own readers, as the settings name them.
    """

    data_dir: str
    folder: str
    embedder: str
    embedding_model: str | None
    chroma_url: str | None
    title: str = ""
    readers: str = ""


class IndexReport(Value, frozen=True, kw_only=True, omit_defaults=True):
    """One line of the process: its progress, its result, or its failure."""

    progress: IndexProgress | None = None
    summary: IndexSummary | None = None
    error: str = ""


def run(request: IndexRequest, progress: ReportProgress) -> IndexSummary:
    """Indexes or removes. Raises as `index_paths` and `remove_course` do."""
    data_dir = Path(request.data_dir)
    if request.title:
        return knowledge.remove_course(
            request.title, data_dir, chroma_url=request.chroma_url, progress=progress
        )
    knowledge.use_readers(request.readers)
    embedder = knowledge.embedder_when_used(request.embedder, request.embedding_model)
    return knowledge.index_paths(
        [request.folder],
        data_dir,
        embedder,
        chroma_url=request.chroma_url,
        progress=progress,
    )


def main() -> None:
    """Serves the request on standard input."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=prepared(IndexRequest))
    reports = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output that a package prints must not be taken for a report.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())

    def report(line: IndexReport) -> None:
        reports.write(msgspec.json.encode(line) + b"\n")
        reports.flush()

    try:
        summary = run(request, lambda now: report(IndexReport(progress=now)))
        report(IndexReport(summary=summary))
    except ServiceError as error:
        report(IndexReport(error=str(error)))


if __name__ == "__main__":
    main()
