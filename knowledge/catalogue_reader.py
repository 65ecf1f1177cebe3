"""Reads a finished catalogue, from any thread."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from antiphon.knowledge.catalogue_file import (
    COURSES,
    FORMAT,
    LESSONS,
    catalogue_errors,
    courses_of,
    open_read_only,
    read_meta,
)
from antiphon.knowledge.catalogue_tables import find_vectors
from antiphon.knowledge.generations import REBUILD_ADVICE
from antiphon.knowledge.marks import MARKS, marks_of
from antiphon.knowledge.stretches import (
    Place,
    SentenceFigures,
    SentenceRow,
    StoredChunks,
)
from antiphon.knowledge.values import Course, Document, KnownDocument, Mark, Section
from antiphon.knowledge.vectors import (
    ChunkVector,
    Moments,
    Numbers,
    Vector,
    from_blob,
    rows_of,
)
from antiphon.knowledge.windows import REACHES
from antiphon.knowledge.word_hits import NO_HITS, WordHits, fts_query, hits_of
from antiphon.vocabulary.errors import ConfigurationError

_MATCH = "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?"
_STORED_CHUNKS = """
SELECT chunks.section, chunks.start, chunks.stop, chunks.text, chunks.starts, sentences.tokens,
    sentences.lengths, sentences.term_counts, sentences.terms, sentences.vectors
FROM chunks JOIN sentences ON sentences.chunk = chunks.number
WHERE chunks.number IN (SELECT value FROM json_each(?)) ORDER BY chunks.number
"""
_PLACES = """
SELECT sections.number, documents.title, sections.lesson, sections.title,
    coalesce(sections.link, documents.link), sections.vector
FROM sections JOIN documents ON documents.number = sections.document
WHERE sections.number IN (SELECT value FROM json_each(?))
"""
_SUBSET = """
SELECT chunks.number FROM documents
JOIN sections ON sections.document = documents.number
JOIN chunks ON chunks.section = sections.number
WHERE (:course IS NULL OR documents.title = :course) AND (:lesson IS NULL OR sections.lesson = :lesson)
ORDER BY chunks.number
"""
_DOCUMENT = """
SELECT number, hash, stamp, title, link, instructor, language, losses FROM documents WHERE path = ?
"""
_SECTIONS = "SELECT number, lesson, title, link, text FROM sections WHERE document = ? ORDER BY number"
_CHUNK_VECTORS = """
SELECT chunks.number, chunks.vector, documents.title, sections.lesson FROM chunks
JOIN sections ON sections.number = chunks.section
JOIN documents ON documents.number = sections.document
WHERE chunks.number > ? ORDER BY chunks.number LIMIT ?
"""
_Bound = str | int | None


class CatalogueReader:
    """Queries over one generation's catalogue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        # Terms are also weighed on the event loop, which must not wait for a search, so they have their own connection.
        self._terms_lock = threading.Lock()
        with catalogue_errors(path):
            self._sql = open_read_only(path)
            self._terms_sql = open_read_only(path)
            self._meta = read_meta(path)
            self.chunks = int(
                self._sql.execute("SELECT count(*) FROM chunks").fetchone()[0]
            )
        # Another version of the code may have written it: then `own_format` is False, and the rest may be missing.
        self.own_format = self._meta.get("format") == FORMAT
        self.embedder = str(self._meta.get("embedder"))
        self.dimensions = int(self._meta.get("dimensions", 0))
        # The name of this library, the same in all its generations.
        self.library = str(self._meta.get("library"))

    def check(self, embedder: str) -> None:
        """Refuses an index that the embedder cannot search.

        Raises:
            ConfigurationError: It was built by another embedder or by another version; names the remedy.
        """
        if not self.own_format:
            raise ConfigurationError(
                f"the index {self.path.parent} was built by another version; {REBUILD_ADVICE}"
            )
        if self.embedder != embedder:
            raise ConfigurationError(
                f"the index {self.path.parent} was built with the embedder {self.embedder!r}, the settings name "
                f"{embedder!r}; set ANTIPHON_EMBEDDER back, or {REBUILD_ADVICE}"
            )

    def moments(self, name: str = "moments") -> Moments:
        """Returns the moments of the chunks' vectors, or those stored under another name."""
        return Moments.decode(self._meta[name], self.dimensions)

    def sentence_figures(self) -> SentenceFigures:
        """Returns the statistics of all sentences that scoring needs."""
        return SentenceFigures(
            per_chunk=self._meta["sentences per chunk"],
            terms=self._meta["terms per sentence"],
            moments=tuple(self.moments(f"moments {reach}") for reach in REACHES),
        )

    def match(
        self,
        terms: Sequence[str],
        subset: Numbers | None,
        limit: int,
        also: Sequence[int] = (),
    ) -> WordHits:
        """Finds the `limit` chunks that score best for the terms, and those of `also` that hold any of them.

        Args:
            subset: The numbers of the chunks to search; None: all.
        """
        if not terms:
            return NO_HITS
        return hits_of(self._all(_MATCH, (fts_query(terms),)), subset, limit, also)

    def subset(self, course: str | None, lesson: int | None) -> Numbers:
        """Returns the numbers of the chunks of one course or lesson, or of all, in order."""
        rows = self._all(_SUBSET, {"course": course, "lesson": lesson})
        return np.array([row[0] for row in rows], dtype=np.int64)

    def find_vectors(self, texts: Sequence[str]) -> dict[str, bytes]:
        """Finds the stored vectors of those texts that are sentences of the library."""
        with self._lock, catalogue_errors(self.path):
            return find_vectors(self._sql, texts, self.dimensions)

    def vectors(self, numbers: Sequence[int]) -> tuple[list[int], Vector]:
        """Returns the chunks' numbers, and their vectors as rows in the same order."""
        query = "SELECT number, vector FROM chunks WHERE number IN (SELECT value FROM json_each(?))"
        found = []
        blobs = []
        for number, blob in self._all(query, (json.dumps(numbers),)):
            found.append(number)
            blobs.append(blob)
        return found, rows_of(blobs, self.dimensions)

    def sentences(self, numbers: Sequence[int]) -> SentenceRow:
        """Returns the sentences of chunks, in order of number."""
        rows = self._all(_STORED_CHUNKS, (json.dumps(list(numbers)),))
        chunks = StoredChunks(*zip(*rows, strict=True))
        sections = json.dumps(sorted(set(chunks.section)))
        places: dict[int, Place] = {}
        for number, course, lesson, title, link, vector in self._all(
            _PLACES, (sections,)
        ):
            places[number] = Place(
                section=number,
                course=course,
                lesson=lesson,
                title=title,
                link=link,
                vector=from_blob(vector),
            )
        return SentenceRow(chunks, places)

    def marks(self, section: int, start: int, end: int) -> tuple[Mark, ...]:
        """Returns the mark that applies at `start` in a section's text, if any, and those after it, before `end`."""
        values: dict[str, _Bound] = {"section": section, "start": start, "end": end}
        return marks_of(self._all(MARKS, values))

    def courses(self) -> tuple[Course, ...]:
        """Returns the outlines of all courses, by title."""
        return courses_of(self._all(COURSES), self._all(LESSONS))

    def title_vectors(self) -> dict[str, Vector]:
        """Returns the vector of each course's title."""
        rows = self._all("SELECT title, vector FROM documents")
        return {title: from_blob(blob) for title, blob in rows}

    def chunks_with(self, term: str) -> int:
        """Counts the chunks with a stemmed term in title or text."""
        with self._terms_lock, catalogue_errors(self.path):
            row = self._terms_sql.execute(
                "SELECT chunks FROM term_counts WHERE term = ?", (term,)
            ).fetchone()
        return 0 if row is None else int(row[0])

    def known(self) -> dict[str, KnownDocument]:
        """Returns hash, title and stamp of every document, by path."""
        rows = self._all("SELECT path, hash, title, stamp FROM documents ORDER BY path")
        return {
            path: KnownDocument(content_hash=content_hash, title=title, stamp=stamp)
            for path, content_hash, title, stamp in rows
        }

    def chunk_vectors(self, size: int) -> Iterator[list[ChunkVector]]:
        """Yields all chunks in the form of the vector index, in batches of at most `size`."""
        last = 0
        # By the last number, because an offset would walk over all earlier rows each time.
        while rows := self._all(_CHUNK_VECTORS, (last, size)):
            yield [
                ChunkVector(number=number, vector=vector, course=course, lesson=lesson)
                for number, vector, course, lesson in rows
            ]
            last = rows[-1][0]

    def document(self, path: str) -> Document:
        """Returns a stored document, which can then be indexed without its file."""
        (row,) = self._all(_DOCUMENT, (path,))
        number, content_hash, stamp, title, link, instructor, language, losses = row
        sections = []
        for section, lesson, section_title, section_link, text in self._all(
            _SECTIONS, (number,)
        ):
            sections.append(
                Section(
                    number=lesson,
                    title=section_title,
                    link=section_link,
                    text=text,
                    marks=self.marks(section, 0, len(text)),
                )
            )
        return Document(
            path=path,
            content_hash=content_hash,
            stamp=stamp,
            title=title,
            link=link,
            instructor=instructor,
            language=language,
            losses=tuple(json.loads(losses)),
            sections=tuple(sections),
        )

    def copy_to(self, path: Path) -> None:
        """Copies the whole catalogue to a new file."""
        with (
            self._lock,
            catalogue_errors(self.path),
            closing(sqlite3.connect(path)) as copy,
        ):
            self._sql.backup(copy)

    def close(self) -> None:
        with self._lock, self._terms_lock:
            self._sql.close()
            self._terms_sql.close()

    def _all(
        self, query: str, values: Sequence[_Bound] | Mapping[str, _Bound] = ()
    ) -> list[Any]:
        with self._lock, catalogue_errors(self.path):
            return self._sql.execute(query, values).fetchall()
