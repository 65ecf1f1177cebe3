"""The catalogue being written: documents, lessons, chunks, vectors and words, one transaction a document."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path

from antiphon.knowledge.chunking import Chunk
from antiphon.knowledge.document import Document, Section
from antiphon.knowledge.moments import Moments
from antiphon.knowledge.schema import FORMAT, TABLES, catalogue_errors, open_for_writing
from antiphon.knowledge.vectors import rows_of, to_blob
from antiphon.language.words import fold, terms
from antiphon.vocabulary.values import Value


class EmbeddedSection(Value, frozen=True, kw_only=True):
    """A section, its chunks, and their vectors in the same order."""

    section: Section
    chunks: tuple[Chunk, ...]
    vectors: tuple[list[float], ...]


class CatalogueWriter:
    """The truth of one generation while it is built."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with catalogue_errors(path):
            self._sql = open_for_writing(path)

    @classmethod
    def create(cls, path: Path, embedder: str, dimensions: int) -> CatalogueWriter:
        """A new, empty catalogue for the vectors of one embedder."""
        writer = cls(path)
        meta = {"format": FORMAT, "embedder": embedder, "dimensions": dimensions, "library": secrets.token_hex(4)}
        with catalogue_errors(path), writer._sql:
            writer._sql.executescript(TABLES)
            writer._sql.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
        return writer

    def hashes(self) -> dict[str, str]:
        """The content hash of every document, by path."""
        with catalogue_errors(self._path):
            return dict(self._sql.execute("SELECT path, hash FROM documents ORDER BY path").fetchall())

    def owner(self, title: str) -> str | None:
        """The path of the document with this title, however it is written."""
        with catalogue_errors(self._path):
            row = self._sql.execute("SELECT path FROM documents WHERE folded = ?", (fold(title),)).fetchone()
        return None if row is None else str(row[0])

    def store(
        self,
        document: Document,
        title_vector: Sequence[float],
        sections: Sequence[EmbeddedSection],
    ) -> None:
        """Puts a document in the place of what was stored for its path, all or nothing."""
        with catalogue_errors(self._path), self._sql:
            self._remove(document.path)
            number = self._sql.execute(
                "INSERT INTO documents (path, hash, title, folded, link, instructor, vector)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    document.path, document.content_hash, document.title, fold(document.title),
                    document.link, document.instructor, to_blob(title_vector),
                ),
            ).lastrowid  # fmt: skip
            for one in sections:
                self._store_section(number, document.title, one)

    def _store_section(self, document: int | None, course: str, one: EmbeddedSection) -> None:
        section = one.section
        number = self._sql.execute(
            "INSERT INTO sections (document, lesson, title, link, text) VALUES (?, ?, ?, ?, ?)",
            (document, section.number, section.title, section.link, section.text),
        ).lastrowid
        titles = " ".join(terms(f"{course} {section.title}"))
        for chunk, vector in zip(one.chunks, one.vectors, strict=True):
            row = self._sql.execute(
                "INSERT INTO chunks (id, section, start, text, starts, vector) VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (id) DO NOTHING RETURNING number",
                (chunk.id, number, chunk.start, chunk.text, json.dumps(chunk.starts), to_blob(vector)),
            ).fetchone()
            if row is not None:
                words = " ".join(terms(chunk.text))
                self._sql.execute("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (row[0], titles, words))

    def remove(self, path: str) -> None:
        """Takes a document out, with all that belongs to it."""
        with catalogue_errors(self._path), self._sql:
            self._remove(path)

    def _remove(self, path: str) -> None:
        self._sql.execute(
            "DELETE FROM words WHERE rowid IN (SELECT chunks.number FROM chunks"
            " JOIN sections ON sections.number = chunks.section"
            " JOIN documents ON documents.number = sections.document WHERE documents.path = ?)",
            (path,),
        )
        self._sql.execute("DELETE FROM documents WHERE path = ?", (path,))

    def finish(self) -> None:
        """Adds what searching needs over all chunks, and tidies the word index."""
        with catalogue_errors(self._path), self._sql:
            dimensions = int(self._sql.execute("SELECT value FROM meta WHERE name = 'dimensions'").fetchone()[0])
            moments = Moments.of((rows_of(blobs, dimensions) for blobs in self._vectors()), dimensions)
            found = {"mean": moments.mean.tobytes(), "second": moments.second.tobytes()}
            self._sql.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", found.items())
            self._sql.execute("INSERT INTO words (words) VALUES ('optimize')")
            self._sql.execute("DELETE FROM term_counts")
            self._sql.execute("INSERT INTO term_counts SELECT term, doc FROM word_counts")

    def _vectors(self, size: int = 2_000) -> Iterator[list[bytes]]:
        cursor = self._sql.execute("SELECT vector FROM chunks")
        while rows := cursor.fetchmany(size):
            yield [row[0] for row in rows]

    def close(self) -> None:
        self._sql.close()
