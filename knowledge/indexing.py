"""Indexing: turns files into a new generation, and embeds only changed text.

It runs in a process of its own, because Chroma's writes hold the interpreter lock for long. It may be killed at
any moment: each document is one transaction, and the generation in use stays unchanged until the switch.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.finding import Choice, find_files, find_only
from antiphon.knowledge.generations import CATALOGUE, Generations
from antiphon.knowledge.index_run import IndexRun
from antiphon.knowledge.layout_store import stored_layouts
from antiphon.knowledge.readers import Format, add_formats
from antiphon.knowledge.reading_process import ReadingProcess
from antiphon.knowledge.removing import RecordedEmbedder, path_of, without
from antiphon.knowledge.target import Target, set_target
from antiphon.knowledge.values import (
    IndexProgress,
    IndexSummary,
    KnownDocument,
    ReportProgress,
)
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import Embedder


def index_paths(
    paths: Iterable[str | Path],
    data_dir: Path,
    embedder: Embedder,
    *,
    chroma_url: str | None = None,
    rebuild: bool = False,
    only: bool = False,
    choice: Choice | None = None,
    readers: Iterable[Format] = (),
    progress: ReportProgress = lambda _: None,
) -> IndexSummary:
    """Brings the index up to date with the files at `paths`, and puts it in use.

    Args:
        paths: Files or folders. Documents indexed earlier from elsewhere stay; those under `paths` whose files are gone
            are removed.
        rebuild: Embed every document again, including those from elsewhere; needed for another embedder and for a
            damaged index.
        only: Remove documents indexed earlier from elsewhere.
        choice: The files of folders to read; None: all.
        readers: Your own formats, in addition to ours.

    Raises:
        ConfigurationError: The index was built by another embedder or version, and `rebuild` is not set.
        KnowledgeError: Another indexer runs, or the data folder or the Chroma server cannot be used.
    """
    started = time.monotonic()
    add_formats(readers)
    store = Generations(data_dir)
    layouts = stored_layouts(data_dir)
    with (
        store.locked(),
        store.write_errors(),
        ReadingProcess(layouts=layouts) as reader,
    ):
        run = IndexRun(store, embedder, chroma_url, rebuild, progress, reader)
        find = find_only if only else find_files
        named = tuple(paths)

        def read(known: Mapping[str, KnownDocument]) -> Target:
            found = find(named, known, reader.plan, choice or Choice())
            total = len(found.files)

            def report(done: int, path: str) -> None:
                progress(
                    IndexProgress(stage="files", done=done, total=total, path=path)
                )

            target = set_target(found, known, reader, report)
            progress(IndexProgress(stage="files", done=total, total=total))
            return target

        return run.index(read, started)


def remove_course(
    title: str,
    data_dir: Path,
    *,
    chroma_url: str | None = None,
    progress: ReportProgress = lambda _: None,
) -> IndexSummary:
    """Removes one course from the index; its file stays, and brings it back when it is indexed again.

    Args:
        title: The course's title, in any case.

    Raises:
        NotFoundError: There is no such course.
        ConfigurationError: The index was built by another version.
        KnowledgeError: Another indexer runs, or the data folder or the Chroma server cannot be used.
    """
    started = time.monotonic()
    store = Generations(data_dir)
    number = store.current()
    # Before the lock, because taking that creates the data folder.
    if not number:
        raise NotFoundError(f"Nothing is indexed in {data_dir}.")
    with closing(CatalogueReader(store.folder(number) / CATALOGUE)) as base:
        embedder = RecordedEmbedder(base.embedder)

    def rest(known: Mapping[str, KnownDocument]) -> Target:
        path = path_of(title, known)
        # The remains of a killed run may have texts to embed, and this run has no embedder.
        store.clear_building()
        return without(path, known)

    with store.locked(), store.write_errors():
        run = IndexRun(store, embedder, chroma_url, False, progress)
        return run.index(rest, started)
