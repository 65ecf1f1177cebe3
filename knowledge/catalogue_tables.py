"""The catalogue's tables, and the lookup of sentences' vectors by their text."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterable
from functools import lru_cache

TABLES = """
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
    language TEXT,
    losses TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE sections (
    number INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    lesson INTEGER,
    title TEXT NOT NULL,
    link TEXT,
    text TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX sections_document ON sections (document, lesson);
-- A number is never given twice, so that a place in "sentence_places" is that of its sentence or leads nowhere.
CREATE TABLE chunks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    section INTEGER NOT NULL REFERENCES sections ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    starts BLOB NOT NULL,
    text TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE INDEX chunks_section ON chunks (section);
-- What scoring reads of a chunk's sentences, apart from their text (knowledge/windows.py).
CREATE TABLE sentences (
    chunk INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    tokens BLOB NOT NULL,
    lengths BLOB NOT NULL,
    term_counts BLOB NOT NULL,
    terms BLOB NOT NULL,
    vectors BLOB NOT NULL
);
-- Where a text's vector stands, by the text's hash: what was embedded once is not embedded again.
CREATE TABLE sentence_places (hash INTEGER PRIMARY KEY, chunk INTEGER NOT NULL, place INTEGER NOT NULL);
-- The vectors of a document that is not stored yet, so that a killed run goes on in the middle of it.
CREATE TABLE pending (hash INTEGER PRIMARY KEY, vector BLOB NOT NULL);
-- Both sides of a match are stemmed by language/words.py and joined by spaces; the tokenizer only splits at them.
CREATE VIRTUAL TABLE words USING fts5 (title, body, tokenize = "ascii tokenchars '._+#'");
CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);
CREATE TABLE term_counts (term TEXT PRIMARY KEY, chunks INTEGER NOT NULL) WITHOUT ROWID;
"""
_FIND_PLACES = """
SELECT sentence_places.hash, sentence_places.place, sentences.vectors FROM sentence_places
JOIN sentences ON sentences.chunk = sentence_places.chunk
WHERE sentence_places.hash IN (SELECT value FROM json_each(?))
"""


def text_hash(text: str) -> int:
    """Returns a 63-bit hash as the key of a text's vector."""
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


@lru_cache(maxsize=50_000)
def term_hash(term: str) -> int:
    """Returns a 32-bit hash of a term, stored with a sentence's vector."""
    return zlib.crc32(term.encode())


def find_vectors(
    sql: sqlite3.Connection, texts: Iterable[str], dimensions: int
) -> dict[str, bytes]:
    """Finds the vectors of a catalogue's sentences, encoded as `SmallVectors` does."""
    by_hash = {text_hash(text): text for text in texts}
    rows = sql.execute(_FIND_PLACES, (json.dumps(list(by_hash)),))
    return {
        by_hash[key]: blob[place * dimensions : (place + 1) * dimensions]
        for key, place, blob in rows
    }
