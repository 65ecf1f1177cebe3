"""The catalogue being written: one transaction a document."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from antiphon.knowledge.catalogue_file import FORMAT, catalogue_errors
from antiphon.knowledge.catalogue_tables import (
    TABLES,
    find_vectors,
    term_hash,
    text_hash,
)
from antiphon.knowledge.chunking import Chunk
from antiphon.knowledge.marks import MARKS_TABLE, headings_of, store_marks
from antiphon.knowledge.values import Document, Section
from antiphon.knowledge.vectors import (
    Moments,
    SmallVectors,
    Vector,
    rows_of,
    to_blob,
)
from antiphon.knowledge.window_moments import window_moments
from antiphon.language.words import fold, terms

_INSERT_DOCUMENT = """
INSERT INTO documents (path, hash, stamp, title, folded, link, instructor, language, losses, vector)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_SECTION = """
INSERT INTO sections (document, lesson, title, link, text, vector) VALUES (?, ?, ?, ?, ?, ?)
"""
# A chunk is identified by its content: neither it nor its words are stored twice.
_INSERT_CHUNK = """
INSERT INTO chunks (id, section, start, stop, starts, text, vector) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING RETURNING number
"""
_INSERT_SENTENCES = """
INSERT INTO sentences (chunk, tokens, lengths, term_counts, terms, vectors) VALUES (?, ?, ?, ?, ?, ?)
"""
_INSERT_PLACE = "INSERT OR REPLACE INTO sentence_places VALUES (?, ?, ?)"
_FIND_PENDING = (
    "SELECT hash, vector FROM pending WHERE hash IN (SELECT value FROM json_each(?))"
)
# A count of tokens is two bytes, a term four.
_COUNT_SENTENCES = """
SELECT count(*), coalesce(sum(length(tokens)), 0) / 2, coalesce(sum(length(terms)), 0) / 4 FROM sentences
"""
_INSERT_WORDS = "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)"
_DELETE_WORDS = """
DELETE FROM words WHERE rowid IN (
    SELECT chunks.number FROM chunks
    JOIN sections ON sections.number = chunks.section
    JOIN documents ON documents.number = sections.document
    WHERE documents.path = ?
)
"""
# Vectors read at once for summing their moments: 3 MB of them.
_MOMENTS_BATCH = 2_000


class EmbeddedChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk with its vectors.

    Attributes:
        vector: The vector of the whole chunk.
        rows: The vectors of its sentences, in the stored form.
        lengths: The lengths of the vectors of their windows (knowledge/windows.py).
    """

    chunk: Chunk
    vector: Vector
    rows: SmallVectors
    lengths: Vector


class EmbeddedSection(msgspec.Struct, frozen=True, kw_only=True):
    """A section and its embedded chunks; `vector` is that of its titles."""

    section: Section
    vector: Vector
    chunks: tuple[EmbeddedChunk, ...]


class CatalogueWriter:
    """The catalogue of one generation while one process builds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with catalogue_errors(path):
            self._sql = sqlite3.connect(path)
            self._sql.execute("PRAGMA foreign_keys = ON")

    @classmethod
    def create(cls, path: Path, embedder: str, dimensions: int) -> CatalogueWriter:
        """Creates an empty catalogue for the vectors of one embedder."""
        writer = cls(path)
        meta = {
            "format": FORMAT,
            "embedder": embedder,
            "dimensions": dimensions,
            "library": secrets.token_hex(4),
        }
        with catalogue_errors(path), writer._sql:
            # A chunk and its sentences take some 6 kB: with this size one or two pages instead of a chain of them.
            writer._sql.execute("PRAGMA page_size = 8192")
            writer._sql.executescript(TABLES + MARKS_TABLE)
            writer._sql.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        return writer

    def hashes(self) -> dict[str, str]:
        """Returns the content hash of every document, by path."""
        with catalogue_errors(self._path):
            return dict(
                self._sql.execute(
                    "SELECT path, hash FROM documents ORDER BY path"
                ).fetchall()
            )

    def owner(self, title: str) -> str | None:
        """Returns the path of the document with this title, ignoring case and accents."""
        with catalogue_errors(self._path):
            row = self._sql.execute(
                "SELECT path FROM documents WHERE folded = ?", (fold(title),)
            ).fetchone()
        return None if row is None else str(row[0])

    def store(
        self,
        document: Document,
        title_vector: Sequence[float],
        sections: Sequence[EmbeddedSection],
    ) -> None:
        """Stores a document in place of the previous one with its path, all or nothing."""
        title = fold(document.title)
        row = (
            document.path,
            document.content_hash,
            document.stamp,
            document.title,
            title,
            document.link,
            document.instructor,
            document.language,
            json.dumps(document.losses),
            to_blob(title_vector),
        )
        with catalogue_errors(self._path), self._sql:
            self._remove(document.path)
            number = self._sql.execute(_INSERT_DOCUMENT, row).lastrowid
            for embedded in sections:
                self._store_section(number, document.title, embedded)
            self._sql.execute("DELETE FROM pending")

    def _store_section(
        self, document: int | None, course: str, embedded: EmbeddedSection
    ) -> None:
        section = embedded.section
        row = (
            document,
            section.number,
            section.title,
            section.link,
            section.text,
            to_blob(embedded.vector),
        )
        number = self._sql.execute(_INSERT_SECTION, row).lastrowid
        store_marks(self._sql, number, section.marks)
        for entry in embedded.chunks:
            chunk = entry.chunk
            headings = headings_of(section.marks, chunk.start, len(chunk.text))
            title_words = " ".join(terms(f"{course} {section.title} {headings}"))
            values = (
                chunk.id,
                number,
                chunk.start,
                chunk.stop,
                np.asarray(chunk.starts, dtype="<u4").tobytes(),
                section.text[chunk.start : chunk.stop],
                to_blob(entry.vector),
            )
            inserted = self._sql.execute(_INSERT_CHUNK, values).fetchone()
            # None if the same chunk is stored already.
            if inserted is not None:
                self._store_sentences(inserted[0], entry, title_words)

    def _store_sentences(
        self, number: int, entry: EmbeddedChunk, title_words: str
    ) -> None:
        sentences = entry.chunk.sentences
        by_sentence = [terms(sentence) for sentence in sentences]
        every = list(chain.from_iterable(by_sentence))
        row = (
            number,
            np.asarray(entry.chunk.tokens, dtype="<u2").tobytes(),
            to_blob(entry.lengths.ravel()),
            np.fromiter(map(len, by_sentence), dtype="<u2").tobytes(),
            np.fromiter(map(term_hash, every), dtype="<u4").tobytes(),
            entry.rows.encode(),
        )
        self._sql.execute(_INSERT_SENTENCES, row)
        places = [(text_hash(each), number, at) for at, each in enumerate(sentences)]
        self._sql.executemany(_INSERT_PLACE, places)
        self._sql.execute(_INSERT_WORDS, (number, title_words, " ".join(every)))

    def find_vectors(self, texts: Sequence[str], dimensions: int) -> dict[str, bytes]:
        """Finds the vectors of texts that were embedded before, in stored documents or in those to come."""
        with catalogue_errors(self._path):
            found = find_vectors(self._sql, texts, dimensions)
            by_hash = {text_hash(text): text for text in texts}
            rows = self._sql.execute(_FIND_PENDING, (json.dumps(list(by_hash)),))
            for key, blob in rows:
                found[by_hash[key]] = blob
        return found

    def save_pending(self, vectors: Mapping[str, bytes]) -> None:
        """Saves vectors of a document that is not stored yet."""
        rows = [(text_hash(text), vector) for text, vector in vectors.items()]
        with catalogue_errors(self._path), self._sql:
            self._sql.executemany("INSERT OR REPLACE INTO pending VALUES (?, ?)", rows)

    def remove(self, path: str) -> None:
        """Removes a document with all that belongs to it."""
        with catalogue_errors(self._path), self._sql:
            self._remove(path)

    def _remove(self, path: str) -> None:
        # Words first: the cascade does not reach a virtual table, and its rows are found through the others.
        self._sql.execute(_DELETE_WORDS, (path,))
        self._sql.execute("DELETE FROM documents WHERE path = ?", (path,))

    def finish(self) -> None:
        """Adds the statistics of all chunks that a search needs, and optimises the word index."""
        with catalogue_errors(self._path), self._sql:
            dimensions = int(
                self._sql.execute(
                    "SELECT value FROM meta WHERE name = 'dimensions'"
                ).fetchone()[0]
            )
            moments = Moments.of(self._vectors(dimensions), dimensions)
            rows = [
                ("moments", moments.encode()),
                *window_moments(self._sql, dimensions),
                *self._sentence_meta(),
            ]
            self._sql.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            self._sql.execute("INSERT INTO words (words) VALUES ('optimize')")
            # Copied into a table, because fts5vocab counts a term by reading all its occurrences.
            self._sql.execute("DELETE FROM term_counts")
            self._sql.execute(
                "INSERT INTO term_counts SELECT term, doc FROM word_counts"
            )

    def _vectors(self, dimensions: int) -> Iterator[Vector]:
        cursor = self._sql.execute("SELECT vector FROM chunks")
        while rows := cursor.fetchmany(_MOMENTS_BATCH):
            yield rows_of((row[0] for row in rows), dimensions)

    def _sentence_meta(self) -> list[tuple[str, float]]:
        """Returns the mean number of sentences in a chunk, and of terms in a sentence."""
        chunks, sentences, stems = self._sql.execute(_COUNT_SENTENCES).fetchone()
        return [
            ("sentences per chunk", sentences / max(chunks, 1)),
            ("terms per sentence", stems / max(sentences, 1)),
        ]

    def close(self) -> None:
        self._sql.close()
