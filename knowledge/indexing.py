"""Indexing: files in, a new generation out, with only what changed embedded anew.

It runs in a process of its own, because Chroma's writes hold the interpreter lock for long. It may be killed at
any moment: each document is one transaction, and what is in use stays as it was until the switch.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path

from antiphon.knowledge.building import (
    IndexProgress,
    ReportProgress,
    build_vectors,
    fill_catalogue,
)
from antiphon.knowledge.catalogue import CatalogueWriter
from antiphon.knowledge.catalogue_file import FORMAT
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.chroma import drop_index, open_index
from antiphon.knowledge.finding import find_files, find_only
from antiphon.knowledge.generations import (
    CATALOGUE,
    CHROMA,
    MATRIX,
    Generations,
    Plan,
    collection_name,
)
from antiphon.knowledge.reading_process import ReadingProcess, ReadsDocuments
from antiphon.knowledge.removing import RecordedEmbedder, path_of, without
from antiphon.knowledge.target import Target, set_target
from antiphon.knowledge.values import KnownDocument
from antiphon.vocabulary.errors import KnowledgeError, NotFoundError
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value

TargetOf = Callable[[Mapping[str, KnownDocument]], Target]
"""Decides what the next generation holds, from what the one in use does."""


class IndexSummary(Value, frozen=True, kw_only=True):
    """The result of an indexing run.

    Attributes:
        added: Documents that are new; `changed`, `unchanged` and `removed` likewise count documents.
        failed: Paths that could not be indexed, with the reason; what was indexed of them before stays.
        skipped: Files of the folders that are in no format that can be read.
        chunks: Passages in the index now.
        generation: Its number; the same as before where nothing changed.
    """

    added: int
    unchanged: int
    changed: int
    removed: int
    failed: tuple[tuple[str, str], ...]
    chunks: int
    generation: int
    seconds: float
    skipped: tuple[str, ...] = ()


def index_paths(
    paths: Iterable[str | Path],
    data_dir: Path,
    embedder: Embedder,
    *,
    chroma_url: str | None = None,
    rebuild: bool = False,
    only: bool = False,
    progress: ReportProgress = lambda _: None,
) -> IndexSummary:
    """Brings the index up to date with the files at `paths`, and puts it in use.

    Args:
        paths: Files or folders. Documents indexed earlier from elsewhere stay; those under `paths` whose files
            are gone go.
        rebuild: Embed every document anew, those from elsewhere too; needed for another embedder and for a
            damaged index.
        only: Documents indexed earlier from elsewhere go.

    Raises:
        ConfigurationError: The index was built by another embedder or version, and `rebuild` is not set.
        KnowledgeError: Another indexer runs, or the data folder or the Chroma server cannot be used.
    """
    started = time.monotonic()
    store = Generations(data_dir)
    with store.locked(), store.write_errors(), ReadingProcess() as reader:
        run = _IndexRun(store, embedder, chroma_url, rebuild, progress, reader)
        find = find_files
        if only:
            find = find_only
        named = tuple(paths)

        def read(known: Mapping[str, KnownDocument]) -> Target:
            found = find(named, known)
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
        title: The course's title, in capitals or not.

    Raises:
        NotFoundError: There is no such course.
        ConfigurationError: The index was built by another version.
        KnowledgeError: Another indexer runs, or the data folder or the Chroma server cannot be used.
    """
    started = time.monotonic()
    store = Generations(data_dir)
    number = store.current()
    # Before the lock, which makes the data folder.
    if not number:
        raise NotFoundError(f"Nothing is indexed in {data_dir}.")
    with closing(CatalogueReader(store.folder(number) / CATALOGUE)) as base:
        embedder = RecordedEmbedder(base.embedder)

    def rest(known: Mapping[str, KnownDocument]) -> Target:
        path = path_of(title, known)
        # What a killed run left may want texts embedded, for which nobody is here.
        store.clear_building()
        return without(path, known)

    with store.locked(), store.write_errors():
        run = _IndexRun(store, embedder, chroma_url, False, progress)
        return run.index(rest, started)


class _IndexRun:
    """One indexing run, with the lock held.

    The base is the generation in use when it begins, or None where nothing can be taken over from it. A run that only
    removes documents needs no reader.
    """

    def __init__(
        self,
        store: Generations,
        embedder: Embedder,
        chroma_url: str | None,
        rebuild: bool,
        progress: ReportProgress,
        reader: ReadsDocuments | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._chroma_url = chroma_url
        self._rebuild = rebuild
        self._progress = progress
        self._reader = reader
        self._number = store.current()
        self._plan = Plan(
            base=self._number, embedder=embedder.name, format=FORMAT, rebuild=rebuild
        )

    def index(self, target_of: TargetOf, started: float) -> IndexSummary:
        with ExitStack() as opened:
            base = self._open_base()
            known = {}
            if base is not None:
                opened.callback(base.close)
                known = base.known()
            target = target_of(known)
            if self._is_current(target, base):
                chunks = 0
                if base is not None:
                    chunks = base.chunks
                return _summary(target, (), chunks, self._number, started)
            failed, chunks = self._build(target, base)
        self._store.publish(self._number + 1)
        self._drop_old()
        return _summary(target, failed, chunks, self._number + 1, started)

    def _open_base(self) -> CatalogueReader | None:
        """Opens the catalogue in use; one that cannot be read is given up where everything is rebuilt."""
        if not self._number:
            return None
        try:
            base = CatalogueReader(self._store.folder(self._number) / CATALOGUE)
        except KnowledgeError:
            if self._rebuild:
                return None
            raise
        if not self._rebuild:
            base.check(self._embedder.name)
        if not base.own_format:
            base.close()
            return None
        return base

    def _is_current(self, target: Target, base: CatalogueReader | None) -> bool:
        """Returns True if there is nothing to build."""
        if self._rebuild or target.differs:
            return False
        return base is None or self._has_all_vectors(base)

    def _has_all_vectors(self, base: CatalogueReader) -> bool:
        """Returns True if the vector index in use can be opened and holds every chunk."""
        if not base.chunks:
            return True
        folder = self._store.folder(self._number) / CHROMA
        try:
            with closing(
                open_index(
                    folder,
                    self._chroma_url,
                    collection_name(base.library, self._number),
                )
            ) as index:
                return index.count() == base.chunks
        except KnowledgeError:
            return False

    def _build(
        self, target: Target, base: CatalogueReader | None
    ) -> tuple[tuple[tuple[str, str], ...], int]:
        with closing(self._catalogue(base)) as catalogue:
            failed = fill_catalogue(
                catalogue, target, base, self._reader, self._embedder, self._progress
            )
            catalogue.finish()
        vectors = self._store.building / CHROMA
        # What a killed run left may be damaged unseen.
        shutil.rmtree(vectors, ignore_errors=True)
        with closing(CatalogueReader(self._store.building / CATALOGUE)) as finished:
            name = collection_name(finished.library, self._number + 1)
            matrix = self._store.building / MATRIX
            build_vectors(
                finished, vectors, self._chroma_url, name, matrix, self._progress
            )
            return failed, finished.chunks

    def _catalogue(self, base: CatalogueReader | None) -> CatalogueWriter:
        """Opens the one that a killed run left, or a copy of the one in use, or a new one."""
        path = self._store.building / CATALOGUE
        if self._store.can_continue(self._plan):
            return CatalogueWriter(path)
        self._store.clear_building()
        if base is None or self._rebuild:
            CatalogueWriter.create(
                path, self._embedder.name, self._embedder.dimensions
            ).close()
        else:
            base.copy_to(path)
        # Last: with it the catalogue beside it counts as whole.
        self._store.save_plan(self._plan)
        return CatalogueWriter(path)

    def _drop_old(self) -> None:
        """Removes all generations but the one put in use and the one before, which queries may still read."""
        for number in self._store.numbers():
            if number >= self._number:
                continue
            if self._chroma_url is not None:
                self._drop_collection(self._chroma_url, number)
            self._store.remove(number)

    def _drop_collection(self, url: str, number: int) -> None:
        try:
            with closing(
                CatalogueReader(self._store.folder(number) / CATALOGUE)
            ) as old:
                drop_index(url, collection_name(old.library, number))
        except KnowledgeError:
            # A collection that stays behind only takes room; the new generation is in use already.
            return


def _summary(
    target: Target,
    failed: tuple[tuple[str, str], ...],
    chunks: int,
    generation: int,
    started: float,
) -> IndexSummary:
    return IndexSummary(
        added=target.added,
        unchanged=target.unchanged,
        changed=target.changed,
        removed=target.removed,
        failed=(*target.failed, *failed),
        chunks=chunks,
        generation=generation,
        seconds=time.monotonic() - started,
        skipped=target.skipped,
    )
