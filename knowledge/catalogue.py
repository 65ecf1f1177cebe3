"""The catalogue's tables, and the catalogue being written: one transaction a document."""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from antiphon.knowledge.catalogue_file import FORMAT, catalogue_errors
from antiphon.knowledge.chunking import Chunk
from antiphon.knowledge.marks import MARKS_TABLE, headings_of, store_marks
from antiphon.knowledge.values import Document, Section
from antiphon.knowledge.vectors import Moments, Vector, rows_of, to_blob
from antiphon.language.words import fold, terms
from antiphon.vocabulary.values import Value

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
    stamp TEXT NOT NULL,
    title TEXT NOT NULL,
    folded TEXT NOT NULL UNIQUE,
    link TEXT,
    instructor TEXT,
    vector BLOB NOT NULL
);
CREATE TABLE sections (
    number INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    lesson INTEGER,
    title TEXT NOT NULL,
    link TEXT,
    text TEXT NOT NULL
);
CREATE INDEX sections_document ON sections (document, lesson);
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    section INTEGER NOT NULL REFERENCES sections ON DELETE CASCADE,
    start INTEGER NOT NULL,
    text TEXT NOT NULL,
    starts TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX chunks_section ON chunks (section);
-- Both sides of a match are stemmed by language/words.py and joined by spaces; the tokenizer only splits at them.
CREATE VIRTUAL TABLE words USING fts5 (title, body, tokenize = "ascii tokenchars '._+#'");
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);
CREATE TABLE term_counts (term TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID;
"""

_INSERT_DOCUMENT = """
INSERT INTO documents (path, hash, stamp, title, folded, link, instructor, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_SECTION = (
    "INSERT INTO sections (document, lesson, title, link, text) VALUES (?, ?, ?, ?, ?)"
)
# A chunk is known by its content: one that is stored already is not stored twice, nor are its words.
_INSERT_CHUNK = """
INSERT INTO chunks (id, section, start, text, starts, vector) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO NOTHING RETURNING number
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
# Vectors read at once when their moments are summed: 3 MB of them.
_MOMENTS_BATCH = 2_000


class EmbeddedChunk(Value, frozen=True, kw_only=True):
    """A chunk and its vector."""

    chunk: Chunk
    vector: list[float]


class EmbeddedSection(Value, frozen=True, kw_only=True):
    """A section and its chunks, embedded."""

    section: Section
    chunks: tuple[EmbeddedChunk, ...]


class CatalogueWriter:
    """The catalogue of one generation while it is built, by one process."""

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
            writer._sql.executescript(_TABLES + MARKS_TABLE)
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
        """Returns the path of the document with this title, however it is written."""
        with catalogue_errors(self._path):
            row = self._sql.execute(
                "SELECT path FROM documents WHERE folded = ?", (fold(title),)
            ).fetchone()
        if row is None:
            return None
        return str(row[0])

    def store(
        self,
        document: Document,
        title_vector: Sequence[float],
        sections: Sequence[EmbeddedSection],
    ) -> None:
        """Puts a document in the place of what was stored for its path, all or nothing."""
        title = fold(document.title)
        row = (
            document.path,
            document.content_hash,
            document.stamp,
            document.title,
            title,
            document.link,
            document.instructor,
            to_blob(title_vector),
        )
        with catalogue_errors(self._path), self._sql:
            self._remove(document.path)
            number = self._sql.execute(_INSERT_DOCUMENT, row).lastrowid
            for embedded in sections:
                self._store_section(number, document.title, embedded)

    def _store_section(
        self, document: int | None, course: str, embedded: EmbeddedSection
    ) -> None:
        section = embedded.section
        row = (document, section.number, section.title, section.link, section.text)
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
                chunk.text,
                json.dumps(chunk.starts),
                to_blob(entry.vector),
            )
            inserted = self._sql.execute(_INSERT_CHUNK, values).fetchone()
            # None where the same chunk is stored already.
            if inserted is not None:
                words = " ".join(terms(chunk.text))
                self._sql.execute(_INSERT_WORDS, (inserted[0], title_words, words))

    def remove(self, path: str) -> None:
        """Removes a document with all that belongs to it."""
        with catalogue_errors(self._path), self._sql:
            self._remove(path)

    def _remove(self, path: str) -> None:
        # Words first: a virtual table takes no part in the cascade, and its rows are found through the others.
        self._sql.execute(_DELETE_WORDS, (path,))
        self._sql.execute("DELETE FROM documents WHERE path = ?", (path,))

    def finish(self) -> None:
        """Adds what searching needs over all chunks, and tidies the word index."""
        with catalogue_errors(self._path), self._sql:
            dimensions = int(
                self._sql.execute(
                    "SELECT value FROM meta WHERE name = 'dimensions'"
                ).fetchone()[0]
            )
            moments = Moments.of(self._vectors(dimensions), dimensions)
            rows = (
                ("mean", moments.mean.tobytes()),
                ("second", moments.second.tobytes()),
            )
            self._sql.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)
            self._sql.execute("INSERT INTO words (words) VALUES ('optimize')")
            # Copied: fts5vocab reads every place of a term in order to count them.
            self._sql.execute("DELETE FROM term_counts")
            self._sql.execute(
                "INSERT INTO term_counts SELECT term, doc FROM word_counts"
            )

    def _vectors(self, dimensions: int) -> Iterator[Vector]:
        cursor = self._sql.execute("SELECT vector FROM chunks")
        while rows := cursor.fetchmany(_MOMENTS_BATCH):
            yield rows_of((row[0] for row in rows), dimensions)

    def close(self) -> None:
        self._sql.close()
