"""The catalogue's tables, and how its file is opened."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from antiphon.vocabulary.errors import KnowledgeError

FORMAT = "1"
"""Raised when the tables change; an index of another format is built again."""

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE documents (
    number INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL,
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

MEND = "build it again with `antiphon index --rebuild PATH…`"


@contextmanager
def catalogue_errors(path: Path) -> Iterator[None]:
    """Wraps what SQLite raises about the catalogue at `path`, once, in our words."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise KnowledgeError(f"the catalogue {path} cannot be used ({error}); {MEND}") from error


def open_read_only(path: Path) -> sqlite3.Connection:
    """A finished catalogue, which nobody writes any more: no lock is taken, and a read-only folder will do."""
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=False)


def open_for_writing(path: Path) -> sqlite3.Connection:
    """A catalogue being built, by one process."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    return connection
