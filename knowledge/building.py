"""A generation being built: its catalogue brought to the target, then the vector index to the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from antiphon.knowledge.catalogue import CatalogueWriter, EmbeddedSection
from antiphon.knowledge.chroma import BATCH, create_index
from antiphon.knowledge.chunking import Chunk, chunk_section
from antiphon.knowledge.document import Document
from antiphon.knowledge.loading import load_document
from antiphon.knowledge.progress import IndexProgress
from antiphon.knowledge.reading import CatalogueReader
from antiphon.knowledge.target import Target
from antiphon.vocabulary.errors import DocumentError, KnowledgeError
from antiphon.vocabulary.ports import Embedder

_STEP = 16
"""Chunks embedded between two words of progress."""

Report = Callable[[IndexProgress], None]


def fill_catalogue(
    catalogue: CatalogueWriter, target: Target, known: CatalogueReader | None, embedder: Embedder, report: Report
) -> tuple[tuple[str, str], ...]:
    """Brings a catalogue to the target, one transaction a document; what it holds already is not done again.

    Args:
        known: The generation in use; documents that the target keeps are copied from it.

    Returns:
        Files that changed under our hands and can no longer be used, with the reason.
    """
    stored = catalogue.hashes()
    for path, content_hash in stored.items():
        if target.hashes.get(path) != content_hash:
            catalogue.remove(path)
    failed: list[tuple[str, str]] = []
    todo = [path for path, content_hash in target.hashes.items() if stored.get(path) != content_hash]
    for done, path in enumerate(todo):
        try:
            document = load_document(path) if path in target.fresh or known is None else known.document(path)
            _store(catalogue, document, embedder, _Place(report, path, done, len(todo)))
        except DocumentError as error:
            failed.append((error.path, error.reason))
    report(IndexProgress(stage="documents", done=len(todo), total=len(todo)))
    return tuple(failed)


class _Place:
    """Where in the run a document stands, for its progress."""

    def __init__(self, report: Report, path: str, done: int, total: int) -> None:
        self._report = report
        self._path = path
        self._done = done
        self._total = total

    def report(self, chunks_done: int, chunks: int) -> None:
        self._report(
            IndexProgress(
                stage="documents", done=self._done, total=self._total,
                path=self._path, chunks_done=chunks_done, chunks=chunks,
            )
        )  # fmt: skip


def _store(catalogue: CatalogueWriter, document: Document, embedder: Embedder, place: _Place) -> None:
    owner = catalogue.owner(document.title)
    if owner is not None and owner != document.path:
        raise DocumentError(document.path, f"its course title {document.title!r} is that of {owner}")
    cut = [(section, chunk_section(document, section, embedder)) for section in document.sections]
    vectors = _embed([chunk for _, chunks in cut for chunk in chunks], embedder, place)
    sections = []
    for section, chunks in cut:
        own, vectors = vectors[: len(chunks)], vectors[len(chunks) :]
        sections.append(EmbeddedSection(section=section, chunks=tuple(chunks), vectors=tuple(own)))
    catalogue.store(document, embedder.embed([document.title])[0], sections)


def _embed(chunks: Sequence[Chunk], embedder: Embedder, place: _Place) -> list[list[float]]:
    vectors: list[list[float]] = []
    for start in range(0, len(chunks), _STEP):
        place.report(start, len(chunks))
        vectors += embedder.embed([chunk.embedded for chunk in chunks[start : start + _STEP]])
    return vectors


def build_vectors(catalogue: CatalogueReader, folder: Path, url: str | None, name: str, report: Report) -> None:
    """Builds the vector index afresh from the catalogue.

    Afresh, because no embedding is repeated for it (0.7 s a thousand chunks, measured), because the files of the
    one in use may be written by its reader while they are copied, and because one that a killed run left may be
    damaged unseen.

    Raises:
        KnowledgeError: It cannot be written, or does not hold what was written.
    """
    if not catalogue.chunks:
        return
    with closing(create_index(folder, url, name)) as index:
        done = 0
        for batch in catalogue.chunk_vectors(BATCH):
            report(IndexProgress(stage="vectors", done=done, total=catalogue.chunks))
            index.upsert(batch)
            done += len(batch)
        if index.count() != catalogue.chunks:
            raise KnowledgeError(
                f"the vector index {url or folder} holds {index.count()} of {catalogue.chunks} chunks; index again"
            )
    report(IndexProgress(stage="vectors", done=done, total=done))
