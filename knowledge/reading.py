"""A finished catalogue being read, from any thread."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from antiphon.knowledge.course import Course, Lesson
from antiphon.knowledge.document import Document, KnownDocument, Section
from antiphon.knowledge.matching import WordHits, fts_query
from antiphon.knowledge.moments import Moments
from antiphon.knowledge.schema import FORMAT, MEND, catalogue_errors, open_read_only
from antiphon.knowledge.vectors import ChunkVector, Vector, from_blob, rows_of
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.values import Passage, StoredText

_MATCH = """
WITH hits AS MATERIALIZED (
    SELECT rowid AS number, -bm25(words) AS score FROM words WHERE words MATCH :query
), best AS (
    SELECT number, score FROM hits
    WHERE :course IS NULL AND :lesson IS NULL OR number IN (
        SELECT chunks.number FROM documents
        JOIN sections ON sections.document = documents.number
        JOIN chunks ON chunks.section = sections.number
        WHERE (:course IS NULL OR documents.title = :course) AND (:lesson IS NULL OR sections.lesson = :lesson)
    )
    ORDER BY score DESC, number LIMIT :limit
), wanted AS (
    SELECT number, score FROM best
    UNION SELECT number, score FROM hits WHERE number IN (SELECT value FROM json_each(:also))
)
SELECT number, score, (SELECT sum(score) FROM hits), (SELECT sum(score * score) FROM hits) FROM wanted
"""
_PASSAGES = """
SELECT chunks.number, chunks.id, documents.title, sections.lesson, sections.title,
    coalesce(sections.link, documents.link), chunks.text, chunks.starts, chunks.start
FROM chunks
JOIN sections ON sections.number = chunks.section
JOIN documents ON documents.number = sections.document
WHERE chunks.number IN (SELECT value FROM json_each(?))
"""
_COURSES = """
SELECT documents.number, documents.title, documents.link, documents.instructor,
    (SELECT count(*) FROM chunks JOIN sections ON sections.number = chunks.section
     WHERE sections.document = documents.number)
FROM documents ORDER BY documents.folded
"""

_VECTORS = """
SELECT chunks.number, chunks.id, chunks.vector, documents.title, sections.lesson FROM chunks
JOIN sections ON sections.number = chunks.section
JOIN documents ON documents.number = sections.document
WHERE chunks.number > ? ORDER BY chunks.number LIMIT ?
"""
_Bound = str | int | None


class CatalogueReader:
    """Questions to one generation's catalogue."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._turn = threading.Lock()
        # Terms are weighed on the event loop too, which must not wait for a search: they have their own connection.
        self._terms_turn = threading.Lock()
        with catalogue_errors(path):
            self._sql = open_read_only(path)
            self._terms_sql = open_read_only(path)
            self._meta = dict(self._sql.execute("SELECT name, value FROM meta").fetchall())
            self.chunks = int(self._sql.execute("SELECT count(*) FROM chunks").fetchone()[0])

    @property
    def embedder(self) -> str:
        return str(self._meta["embedder"])

    @property
    def dimensions(self) -> int:
        return int(self._meta["dimensions"])

    @property
    def library(self) -> str:
        """A name that this library keeps over all its generations."""
        return str(self._meta["library"])

    @property
    def own_format(self) -> bool:
        """Whether this version of the code wrote it."""
        return self._meta.get("format") == FORMAT

    def check(self, embedder: str) -> None:
        """Refuses an index that the embedder cannot search.

        Raises:
            ConfigurationError: It was built by another embedder or by another version; names the way out.
        """
        if not self.own_format:
            raise ConfigurationError(f"the index {self.path.parent} was built by another version; {MEND}")
        if self.embedder != embedder:
            raise ConfigurationError(
                f"the index {self.path.parent} was built with the embedder {self.embedder!r}, the settings name "
                f"{embedder!r}; set ANTIPHON_EMBEDDER back, or {MEND}"
            )

    def moments(self) -> Moments:
        size = self.dimensions
        mean, second = (np.frombuffer(self._meta[name], dtype=np.float64) for name in ("mean", "second"))
        return Moments(mean, second.reshape(size, size))

    def match(
        self, terms: Sequence[str], course: str | None, lesson: int | None, limit: int, also: Sequence[int] = ()
    ) -> WordHits:
        """The `limit` chunks that meet the terms best, and those of `also` that meet any."""
        if not terms:
            return WordHits(scores={}, total=0.0, squares=0.0)
        wanted = {
            "query": fts_query(terms), "course": course, "lesson": lesson, "limit": limit, "also": json.dumps(also)
        }  # fmt: skip
        rows = self._all(_MATCH, wanted)
        total, squares = (rows[0][2], rows[0][3]) if rows else (0.0, 0.0)
        return WordHits(scores={row[0]: row[1] for row in rows}, total=total, squares=squares)

    def numbers(self, ids: Sequence[str]) -> list[int]:
        """The numbers of the chunks with these ids."""
        query = "SELECT number FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
        return [row[0] for row in self._all(query, (json.dumps(ids),))]

    def vectors(self, numbers: Sequence[int]) -> tuple[list[int], Vector]:
        """The chunks' numbers, and their vectors as rows in the same order."""
        query = "SELECT number, vector FROM chunks WHERE number IN (SELECT value FROM json_each(?))"
        rows = self._all(query, (json.dumps(numbers),))
        return [row[0] for row in rows], rows_of((row[1] for row in rows), self.dimensions)

    def passages(self, scores: dict[int, float]) -> list[Passage]:
        """The chunks as evidence, best score first."""
        rows = {row[0]: row[1:] for row in self._all(_PASSAGES, (json.dumps(list(scores)),))}
        ranked = sorted(rows, key=lambda number: (-scores[number], number))
        return [_passage(rows[number], scores[number]) for number in ranked]

    def courses(self) -> tuple[Course, ...]:
        lessons: dict[int, list[Lesson]] = {}
        query = "SELECT document, lesson, title, link FROM sections WHERE lesson IS NOT NULL ORDER BY number"
        for document, number, title, link in self._all(query):
            lessons.setdefault(document, []).append(Lesson(number=number, title=title, link=link))
        return tuple(
            Course(title=title, link=link, instructor=instructor, lessons=tuple(lessons.get(number, ())), chunks=chunks)
            for number, title, link, instructor, chunks in self._all(_COURSES)
        )

    def title_vectors(self) -> dict[str, Vector]:
        """The vector of each course's title."""
        return {title: from_blob(blob) for title, blob in self._all("SELECT title, vector FROM documents")}

    def chunks_with(self, term: str) -> int:
        """In how many chunks a stemmed term stands, title or text."""
        with self._terms_turn, catalogue_errors(self.path):
            row = self._terms_sql.execute("SELECT chunks FROM term_counts WHERE term = ?", (term,)).fetchone()
        return int(row[0]) if row else 0

    def known(self) -> dict[str, KnownDocument]:
        """Every document, by path."""
        rows = self._all("SELECT path, hash, title FROM documents ORDER BY path")
        return {path: KnownDocument(content_hash=content_hash, title=title) for path, content_hash, title in rows}

    def chunk_vectors(self, size: int) -> Iterator[list[ChunkVector]]:
        """All chunks as the vector index wants them, in batches of at most `size`."""
        last = 0
        while rows := self._all(_VECTORS, (last, size)):
            last = rows[-1][0]
            yield [ChunkVector(id=row[1], vector=row[2], course=row[3], lesson=row[4]) for row in rows]

    def document(self, path: str) -> Document:
        """A document as it was stored, so that it can be indexed again without its file."""
        number, *fields = self._all(
            "SELECT number, hash, title, link, instructor FROM documents WHERE path = ?", (path,)
        )[0]
        rows = self._all("SELECT lesson, title, link, text FROM sections WHERE document = ? ORDER BY number", (number,))
        return Document(
            path=path, content_hash=fields[0], title=fields[1], link=fields[2], instructor=fields[3],
            sections=tuple(Section(number=row[0], title=row[1], link=row[2], text=row[3]) for row in rows),
        )  # fmt: skip

    def copy_to(self, path: Path) -> None:
        """Writes the whole catalogue to a new file."""
        with self._turn, catalogue_errors(self.path), closing(sqlite3.connect(path)) as copy:
            self._sql.backup(copy)

    def close(self) -> None:
        with self._turn, self._terms_turn:
            self._sql.close()
            self._terms_sql.close()

    def _all(self, query: str, values: Sequence[_Bound] | Mapping[str, _Bound] = ()) -> list[Any]:
        with self._turn, catalogue_errors(self.path):
            return self._sql.execute(query, values).fetchall()


def _passage(row: tuple[str, str, int | None, str, str | None, str, str, int], score: float) -> Passage:
    chunk_id, course, lesson, title, link, text, starts, start = row
    return Passage(
        id=chunk_id,
        source=course if lesson is None else f"{course} - Lesson {lesson}",
        text=StoredText(text),
        starts=tuple(json.loads(starts)),
        course=course,
        lesson=lesson,
        title=title or None,
        link=link,
        score=round(score, 4),
        start=start,
    )
