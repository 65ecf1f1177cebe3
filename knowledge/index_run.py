"""One indexing run: builds the next generation beside the one in use, and switches when it is complete."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing

from antiphon.knowledge.building import Filled, build_vectors, fill_catalogue
from antiphon.knowledge.catalogue import CatalogueWriter
from antiphon.knowledge.catalogue_file import FORMAT
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.chroma import drop_index, open_index
from antiphon.knowledge.generations import (
    CATALOGUE,
    CHROMA,
    MATRIX,
    Generations,
    Plan,
    collection_name,
)
from antiphon.knowledge.reading_process import ReadsDocuments
from antiphon.knowledge.target import Target
from antiphon.knowledge.values import IndexSummary, KnownDocument, ReportProgress
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.ports import Embedder

TargetOf = Callable[[Mapping[str, KnownDocument]], Target]
"""Decides the documents of the next generation from those of the one in use."""


class IndexRun:
    """One indexing run; its caller holds the lock.

    The base is the generation in use when it begins, or None if nothing of it can be reused. A run that only removes
    documents needs no reader.
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
        """Builds the target generation, and puts it in use."""
        with ExitStack() as opened:
            base = self._open_base()
            known = {}
            if base is not None:
                opened.callback(base.close)
                known = base.known()
            target = target_of(known)
            if self._is_current(target, base):
                chunks = 0 if base is None else base.chunks
                return _summary(target, Filled((), ()), chunks, self._number, started)
            filled, chunks = self._build(target, base)
        self._store.publish(self._number + 1)
        self._drop_old()
        return _summary(target, filled, chunks, self._number + 1, started)

    def _open_base(self) -> CatalogueReader | None:
        """Opens the catalogue in use; ignores an unreadable one if everything is rebuilt."""
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
    ) -> tuple[Filled, int]:
        with closing(self._catalogue(base)) as catalogue:
            filled = fill_catalogue(
                catalogue, target, base, self._reader, self._embedder, self._progress
            )
            catalogue.finish()
        vectors = self._store.building / CHROMA
        # The remains of a killed run may have hidden damage.
        shutil.rmtree(vectors, ignore_errors=True)
        with closing(CatalogueReader(self._store.building / CATALOGUE)) as finished:
            name = collection_name(finished.library, self._number + 1)
            matrix = self._store.building / MATRIX
            build_vectors(
                finished, vectors, self._chroma_url, name, matrix, self._progress
            )
            return filled, finished.chunks

    def _catalogue(self, base: CatalogueReader | None) -> CatalogueWriter:
        """Opens the catalogue that a killed run left, or a copy of the one in use, or a new one."""
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
        # Last, because this mark declares the catalogue complete.
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
            # A leftover collection only takes room, and the new generation is in use already.
            return


def _summary(
    target: Target,
    filled: Filled,
    chunks: int,
    generation: int,
    started: float,
) -> IndexSummary:
    return IndexSummary(
        added=target.added,
        unchanged=target.unchanged,
        changed=target.changed,
        removed=target.removed,
        failed=(*target.failed, *filled.failed),
        chunks=chunks,
        generation=generation,
        seconds=time.monotonic() - started,
        skipped=target.skipped,
        left_out=target.left_out,
        losses=filled.losses,
    )
