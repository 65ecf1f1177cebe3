"""The steps of a deletion, a transaction each: some events, some texts, some words, some free pages."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

# Sizes of a step, each about a millisecond of CPU.
_ROWS_AT_ONCE = 8
_TEXTS_AT_ONCE = 20
_WORD_PAGES_AT_ONCE = 8
_FREE_PAGES_AT_ONCE = 32

_READ_AT_ONCE = 100

_FORGET_TITLE = """
    UPDATE conversations SET title = NULL WHERE session_id = :session_id AND title IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM queries WHERE session_id = :session_id)
"""
_KEYS = re.compile(rb'"kept":"([0-9a-f]{64})"')


def ids_to_prune(
    connection: sqlite3.Connection, older_than: float | None, most_bytes: int | None
) -> list[str]:
    """Reads the oldest finished traces: those started before a time, and as many more as free the excess."""
    over, wanted = connection.execute(
        "SELECT count(*), count(CASE WHEN started_at < ? THEN 1 END) FROM queries WHERE status != 'open'",
        (older_than,),
    ).fetchone()
    used = used_bytes(connection)
    if most_bytes is not None and used > most_bytes:
        # Estimated by the average size, and for 5 % more, or the store would be too large again at once. A text shared
        # with younger traces frees nothing, so another run may find more.
        excess = used - most_bytes * 95 // 100
        by_size = -(-excess * over // used)
        wanted = max(wanted, min(over, by_size))
    rows = connection.execute(
        "SELECT query_id FROM queries WHERE status != 'open' ORDER BY started_at, number LIMIT ?",
        (wanted,),
    )
    return [row[0] for row in rows]


def used_bytes(connection: sqlite3.Connection) -> int:
    """Returns the bytes of the file that are in use."""
    pages = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    return pages * _pragma(connection, "page_size")


def delete_some(
    connection: sqlite3.Connection, query_id: str, existed: bool
) -> tuple[bool, bool]:
    """Deletes some events of a trace, and its line with the last of them.

    Returns:
        Whether there was any of it, now or before; and whether nothing is left.
    """
    # From its end: a half-deleted trace stays in the listing, so that the rest can be deleted too.
    rows = connection.execute(
        "SELECT seq, body FROM events WHERE query_id = ? ORDER BY seq DESC LIMIT ?",
        (query_id, _ROWS_AT_ONCE),
    ).fetchall()
    if rows:
        existed = True
        keys = _keys_in(body for _, body in rows)
        connection.executemany("INSERT OR IGNORE INTO loose VALUES (?)", _as_rows(keys))
        connection.execute(
            "DELETE FROM events WHERE query_id = ? AND seq >= ?",
            (query_id, rows[-1][0]),
        )
    if len(rows) == _ROWS_AT_ONCE:
        return existed, False
    # The line goes last, because the trace is found by it.
    if _delete_line(connection, query_id):
        existed = True
    return existed, True


def _delete_line(connection: sqlite3.Connection, query_id: str) -> bool:
    found = connection.execute(
        "SELECT number, session_id FROM queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if found is None:
        return False
    *row, session_id = found
    connection.execute("DELETE FROM unindexed WHERE number = ?", row)
    connection.execute("DELETE FROM marks WHERE number = ?", row)
    connection.execute(
        "DELETE FROM words WHERE rowid IN (?, ?)", (row[0] * 2, row[0] * 2 + 1)
    )
    connection.execute("DELETE FROM queries WHERE number = ?", row)
    # A title is somebody's words, and goes with the conversation's last trace.
    connection.execute(_FORGET_TITLE, {"session_id": session_id})
    return True


def read_loose(connection: sqlite3.Connection) -> set[bytes]:
    """Reads the keys of texts of deleted traces; other traces may hold some of them."""
    return {
        row[0].hex().encode() for row in connection.execute("SELECT key FROM loose")
    }


class References(NamedTuple):
    """The texts that some rows of events refer to, and the rowid of the last of them."""

    last: int
    keys: set[bytes]


def references_after(connection: sqlite3.Connection, at: int) -> References:
    """Reads the texts that the next rows of events refer to; `last` is `at` itself if no row is left."""
    rows = connection.execute(
        "SELECT rowid, body FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?",
        (at, _READ_AT_ONCE),
    ).fetchall()
    if not rows:
        return References(at, set())
    return References(rows[-1][0], _keys_in(body for _, body in rows))


def delete_texts(
    connection: sqlite3.Connection, loose: set[bytes], at: int
) -> tuple[set[bytes], int, bool]:
    """Deletes some loose texts; no row of events up to `at` may refer to any of them.

    Returns:
        The remaining texts, the last row that was read, and whether all texts are deleted.
    """
    # An append since the last step may refer to one of them.
    seen = references_after(connection, at)
    while seen.last != at:
        at = seen.last
        loose = loose - seen.keys
        seen = references_after(connection, at)
    some = sorted(loose)[:_TEXTS_AT_ONCE]
    connection.executemany("DELETE FROM kept WHERE key = ?", _as_rows(some))
    left = loose.difference(some)
    if not left:
        connection.execute("DELETE FROM loose")
    return left, at, not left


def merge_words(connection: sqlite3.Connection, *, first: bool) -> bool:
    """Removes deleted words from the file: FTS5 only marks a row as deleted until its segments are merged.

    Returns:
        Whether everything is merged: https://www.sqlite.org/fts5.html#the_merge_command.
    """
    before = connection.total_changes
    # A negative number makes FTS5 begin a merge, a positive one continue it.
    pages = -_WORD_PAGES_AT_ONCE if first else _WORD_PAGES_AT_ONCE
    connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before < 2


def give_back(connection: sqlite3.Connection) -> bool:
    """Shrinks the file by some of its free pages.

    A file made by an earlier version cannot shrink: it keeps its size, and reuses its free pages.

    Returns:
        Whether no further page can be given back.
    """
    if not _pragma(connection, "auto_vacuum"):
        return True
    free = _pragma(connection, "freelist_count")
    for _ in range(min(free, _FREE_PAGES_AT_ONCE)):
        # Python's module runs the pragma for one page only, no matter which number it names.
        connection.execute("PRAGMA incremental_vacuum(1)")
    return not 0 < _pragma(connection, "freelist_count") < free


def _keys_in(bodies: Iterable[bytes]) -> set[bytes]:
    """Returns the keys of the texts that events refer to, as the store holds them."""
    return set(chain.from_iterable(map(_KEYS.findall, bodies)))


def _as_rows(keys: Iterable[bytes]) -> list[tuple[bytes]]:
    """Converts keys from hex, as in events, to rows of one blob each, as in the tables."""
    return [(bytes.fromhex(key.decode()),) for key in keys]


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
