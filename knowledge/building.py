"""A generation being built: its catalogue brought to the target, then the vector index made from the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from antiphon.knowledge.catalogue import CatalogueWriter, EmbeddedChunk, EmbeddedSection
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.chroma import BATCH, create_index
from antiphon.knowledge.chunking import chunk_section
from antiphon.knowledge.reading_process import ReadsDocuments
from antiphon.knowledge.target import Target
from antiphon.knowledge.values import Document
from antiphon.vocabulary.errors import DocumentError, KnowledgeError
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Value

# Chunks embedded between two reports of progress.
_STEP = 16


class IndexProgress(Value, frozen=True, kw_only=True):
    """The progress of an indexing run.

    Attributes:
        stage: `files` (reading them), `documents` (embedding) or `vectors` (building the vector index).
        done: Files, documents or vectors done, of `total`.
        path: The document in hand.
        chunks_done: Its chunks embedded so far, of `chunks`.
    """

    stage: Literal["files", "documents", "vectors"]
    done: int
    total: int
    path: str = ""
    chunks_done: int = 0
    chunks: int = 0


ReportProgress = Callable[[IndexProgress], None]


def fill_catalogue(
    catalogue: CatalogueWriter,
    target: Target,
    known: CatalogueReader | None,
    reader: ReadsDocuments | None,
    embedder: Embedder,
    report: ReportProgress,
) -> tuple[tuple[str, str], ...]:
    """Brings a catalogue to the target, one transaction a document; what it holds already is not repeated.

    Args:
        known: The generation in use; documents that the target keeps are copied from it.
        reader: Has read those that are fresh; None where none is.

    Returns:
        Files that changed under our hands and can no longer be used, with the reason.
    """
    missing = _remove_stale(catalogue, target)
    failed: list[tuple[str, str]] = []
    for done, path in enumerate(missing):
        filling = _Filling(catalogue, embedder, report, done, len(missing))
        # One file that cannot be used must not end a run over a thousand others.
        try:
            if path in target.fresh and reader is not None:
                filling.store(reader.document(path))
            elif known is not None:
                filling.store(known.document(path))
        except DocumentError as error:
            failed.append((error.path, error.reason))
    report(IndexProgress(stage="documents", done=len(missing), total=len(missing)))
    return tuple(failed)


def _remove_stale(catalogue: CatalogueWriter, target: Target) -> list[str]:
    """Removes the documents that are not the target's, and returns the paths of those that it lacks."""
    stored = catalogue.hashes()
    for path, content_hash in stored.items():
        # Before anything is stored: the title of a document that goes may be taken by another.
        if target.hashes.get(path) != content_hash:
            catalogue.remove(path)
    missing = []
    for path, content_hash in target.hashes.items():
        if stored.get(path) != content_hash:
            missing.append(path)
    return missing


class _Filling:
    """One document on its way into the catalogue, and its place in the run."""

    def __init__(
        self,
        catalogue: CatalogueWriter,
        embedder: Embedder,
        report: ReportProgress,
        done: int,
        total: int,
    ) -> None:
        self._catalogue = catalogue
        self._embedder = embedder
        self._report = report
        self._done = done
        self._total = total

    def store(self, document: Document) -> None:
        owner = self._catalogue.owner(document.title)
        if owner is not None and owner != document.path:
            raise DocumentError(
                document.path, f"its course title {document.title!r} is that of {owner}"
            )
        sections = self._embed_sections(document)
        self._catalogue.store(
            document, self._embedder.embed([document.title])[0], sections
        )

    def _embed_sections(self, document: Document) -> list[EmbeddedSection]:
        chunks = [
            chunk_section(document, section, self._embedder)
            for section in document.sections
        ]
        texts: list[str] = []
        for section_chunks in chunks:
            texts += [chunk.embedded for chunk in section_chunks]
        # All sections together, because a batch that ends with each short lesson would be a slow one.
        vectors = iter(self._embed(document.path, texts))
        sections = []
        for section, section_chunks in zip(document.sections, chunks, strict=True):
            embedded = []
            for chunk in section_chunks:
                embedded.append(EmbeddedChunk(chunk=chunk, vector=next(vectors)))
            sections.append(EmbeddedSection(section=section, chunks=tuple(embedded)))
        return sections

    def _embed(self, path: str, texts: Sequence[str]) -> list[list[float]]:
        vectors: list[list[float]] = []
        for start in range(0, len(texts), _STEP):
            progress = IndexProgress(
                stage="documents",
                done=self._done,
                total=self._total,
                path=path,
                chunks_done=start,
                chunks=len(texts),
            )
            self._report(progress)
            vectors += self._embedder.embed(texts[start : start + _STEP])
        return vectors


def build_vectors(
    catalogue: CatalogueReader,
    folder: Path,
    url: str | None,
    name: str,
    report: ReportProgress,
) -> None:
    """Builds the vector index afresh from the catalogue.

    Afresh, because no embedding is repeated for it (0.7 s a thousand chunks, measured), because the files of the
    one in use may be written by its reader while they are copied, and because one that a killed run left may be
    damaged unseen.

    Raises:
        KnowledgeError: It cannot be written, or does not hold what was written.
    """
    # A library without a text has no vector index, and none is opened for it.
    if not catalogue.chunks:
        return
    with closing(create_index(folder, url, name)) as index:
        done = 0
        for batch in catalogue.chunk_vectors(BATCH):
            report(IndexProgress(stage="vectors", done=done, total=catalogue.chunks))
            index.upsert(batch)
            done += len(batch)
        found = index.count()
        if found != catalogue.chunks:
            raise KnowledgeError(
                f"the vector index {index.where} holds {found} of {catalogue.chunks} chunks; index again"
            )
    report(IndexProgress(stage="vectors", done=done, total=done))
