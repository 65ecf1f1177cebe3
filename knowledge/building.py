"""Builds a generation: brings its catalogue to the target, then makes the vector index from the catalogue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from antiphon.knowledge.catalogue import CatalogueWriter, EmbeddedChunk, EmbeddedSection
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.chroma import BATCH, create_index
from antiphon.knowledge.chunking import Chunk, chunk_section, titles_of
from antiphon.knowledge.embedding import SentenceVectors
from antiphon.knowledge.reading_process import ReadsDocuments
from antiphon.knowledge.target import Target
from antiphon.knowledge.values import Document, IndexProgress, ReportProgress, Section
from antiphon.knowledge.vectors import SmallVectors, Vector
from antiphon.knowledge.windows import REACHES, chunk_vector, window_lengths
from antiphon.language.detection import language_of
from antiphon.vocabulary.errors import DocumentError, KnowledgeError
from antiphon.vocabulary.ports import Embedder

# Chunks whose decoded vectors are in memory at once: 20 MB of a book's text would take a gigabyte.
_BLOCK = 200
_REACH = max(REACHES)
_TOLD_FROM = 1_000
"""Characters of each section from which the language of its course is detected."""


def fill_catalogue(
    catalogue: CatalogueWriter,
    target: Target,
    known: CatalogueReader | None,
    reader: ReadsDocuments | None,
    embedder: Embedder,
    report: ReportProgress,
) -> Filled:
    """Brings a catalogue to the target, one transaction a document; skips documents that it holds already.

    Args:
        known: The generation in use; documents that the target keeps are copied from it.
        reader: Has read the fresh ones; None if there are none.
    """
    missing = _remove_stale(catalogue, target)
    filling = _Filling(catalogue, known, embedder, report, len(missing))

    def prepare(path: str) -> Prepared:
        if path in target.fresh and reader is not None:
            document = reader.document(path)
            language = _language_of(document.sections)
            document = msgspec.structs.replace(document, language=language)
            return prepared(document, embedder)
        assert known is not None
        return prepared(known.document(path), embedder)

    failed: list[tuple[str, str]] = []
    losses: list[tuple[str, str]] = []
    for path, waiting in _ahead(missing, prepare):
        # One unusable file must not end a run over a thousand others.
        try:
            ready = waiting.result()
            filling.store(ready)
        except DocumentError as error:
            failed.append((error.path, error.reason))
        else:
            if path in target.fresh and ready.document.losses:
                losses.append((path, "; ".join(ready.document.losses)))
        filling.done += 1
    report(IndexProgress(stage="documents", done=len(missing), total=len(missing)))
    return Filled(tuple(failed), tuple(losses))


def _language_of(sections: Iterable[Section]) -> str | None:
    """Detects the language from the beginning of each section: one page of Latin does not make a course Latin."""
    return language_of("\n".join([each.text[:_TOLD_FROM] for each in sections]))


def _ahead(
    paths: Iterable[str], prepare: Callable[[str], Prepared]
) -> Iterator[tuple[str, Future[Prepared]]]:
    """Yields documents in order, and prepares each while the one before it is embedded."""
    with ThreadPoolExecutor(1) as thread:
        waiting: deque[tuple[str, Future[Prepared]]] = deque()
        for path in paths:
            waiting.append((path, thread.submit(prepare, path)))
            if len(waiting) > 1:
                yield waiting.popleft()
        yield from waiting


def _remove_stale(catalogue: CatalogueWriter, target: Target) -> list[str]:
    """Removes the documents that the target does not have, and returns the paths of those that the catalogue lacks."""
    stored = catalogue.hashes()
    for path, content_hash in stored.items():
        # Before anything is stored, because another document may take over the title of a removed one.
        if target.hashes.get(path) != content_hash:
            catalogue.remove(path)
    return [path for path, known in target.hashes.items() if stored.get(path) != known]


class Filled(NamedTuple):
    """The outcome for the documents that a catalogue lacked.

    Attributes:
        failed: Files that changed during the run and can no longer be used, with the reason.
        losses: Files that were read, each with the parts that could not be read.
    """

    failed: tuple[tuple[str, str], ...]
    losses: tuple[tuple[str, str], ...]


class Prepared(NamedTuple):
    """A document, with the chunks and the text of the titles of each of its sections."""

    document: Document
    chunks: list[list[Chunk]]
    titles: list[str]

    def texts(self) -> list[str]:
        """Returns all texts to embed, each once."""
        texts = list(self.titles)
        for chunks in self.chunks:
            for chunk in chunks:
                texts += chunk.sentences
        return list(dict.fromkeys(texts))


def prepared(document: Document, embedder: Embedder) -> Prepared:
    """Cuts a document into chunks that the embedder can read whole."""
    chunks: list[list[Chunk]] = []
    titles: list[str] = []
    for section in document.sections:
        chunks.append(chunk_section(document, section, embedder))
        titles.append(titles_of(document, section, embedder))
    return Prepared(document, chunks, titles)


class _Filling:
    """Stores documents in the catalogue and counts those `done`."""

    def __init__(
        self,
        catalogue: CatalogueWriter,
        known: CatalogueReader | None,
        embedder: Embedder,
        report: ReportProgress,
        total: int,
    ) -> None:
        self.done = 0
        self._catalogue = catalogue
        self._embedder = embedder
        self._report = report
        self._total = total
        self._vectors = SentenceVectors(catalogue, known, embedder)

    def store(self, ready: Prepared) -> None:
        document = ready.document
        owner = self._catalogue.owner(document.title)
        if owner is not None and owner != document.path:
            raise DocumentError(
                document.path, f"its course title {document.title!r} is that of {owner}"
            )
        sections = self._embed_sections(ready)
        self._catalogue.store(
            document, self._embedder.embed([document.title])[0], sections
        )

    def _embed_sections(self, ready: Prepared) -> list[EmbeddedSection]:
        report = self._report_chunks(ready.document, ready.chunks)
        vectors = self._vectors.embed(ready.texts(), report)
        sections = []
        for section, title, chunks in zip(
            ready.document.sections, ready.titles, ready.chunks, strict=True
        ):
            title_vector = _rows(vectors, [title])[0]
            embedded = EmbeddedSection(
                section=section,
                vector=title_vector,
                chunks=_embedded_chunks(chunks, vectors, title_vector),
            )
            sections.append(embedded)
        return sections

    def _report_chunks(
        self, document: Document, chunks: Sequence[Sequence[Chunk]]
    ) -> Callable[[float], None]:
        total = sum(map(len, chunks))

        def report(share: float) -> None:
            progress = IndexProgress(
                stage="documents",
                done=self.done,
                total=self._total,
                path=document.path,
                chunks_done=int(share * total),
                chunks=total,
            )
            self._report(progress)

        return report


def _embedded_chunks(
    chunks: Sequence[Chunk], vectors: Mapping[str, bytes], title: Vector
) -> tuple[EmbeddedChunk, ...]:
    """Makes the vectors of one section's chunks and windows from those of its sentences."""
    sentences = [sentence for chunk in chunks for sentence in chunk.sentences]
    tokens = np.array([n for chunk in chunks for n in chunk.tokens], dtype=np.float32)
    embedded: list[EmbeddedChunk] = []
    first = 0
    for start in range(0, len(chunks), _BLOCK):
        block = chunks[start : start + _BLOCK]
        end = first + sum(len(chunk.tokens) for chunk in block)
        # With the neighbours into which the windows at both ends reach.
        low, high = max(first - _REACH, 0), end + _REACH
        rows = _rows(vectors, sentences[low:high])
        lengths = window_lengths(rows, tokens[low:high], title)
        for chunk in block:
            part = slice(first - low, first - low + len(chunk.tokens))
            encoded = b"".join(vectors[sentence] for sentence in chunk.sentences)
            one = EmbeddedChunk(
                chunk=chunk,
                vector=chunk_vector(
                    rows[part], tokens[first : first + len(chunk.tokens)], title
                ),
                rows=SmallVectors.decode(encoded, len(title)),
                lengths=lengths[part],
            )
            embedded.append(one)
            first += len(chunk.tokens)
    return tuple(embedded)


def _rows(vectors: Mapping[str, bytes], texts: Sequence[str]) -> Vector:
    blob = b"".join(vectors[text] for text in texts)
    return SmallVectors.decode(blob, len(blob) // len(texts)).rows()


def build_vectors(
    catalogue: CatalogueReader,
    folder: Path,
    url: str | None,
    name: str,
    matrix: Path,
    report: ReportProgress,
) -> None:
    """Builds a new vector index from the catalogue, and writes the same vectors as rows of one file.

    It does not reuse an old one, because a new one repeats no embedding (0.7 s a thousand chunks, measured), because
    the reader of the index in use may write to its files during a copy, and because the index of a killed run may have
    hidden damage.

    Raises:
        KnowledgeError: It cannot be written, or does not hold all that was written.
    """
    # A library without text has no vector index, and none is opened for it.
    if not catalogue.chunks:
        return
    with (
        closing(create_index(folder, url, name)) as index,
        matrix.open("wb") as rows,
    ):
        done = 0
        for batch in catalogue.chunk_vectors(BATCH):
            report(IndexProgress(stage="vectors", done=done, total=catalogue.chunks))
            index.upsert(batch)
            rows.writelines(chunk.vector for chunk in batch)
            done += len(batch)
        found = index.count()
        if found != catalogue.chunks:
            raise KnowledgeError(
                f"the vector index {index.where} holds {found} of {catalogue.chunks} chunks; index again"
            )
    report(IndexProgress(stage="vectors", done=done, total=done))
