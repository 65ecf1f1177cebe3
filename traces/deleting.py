"""Deleting traces: their events, what they are found by, and the texts that no other trace holds.

Everything is done in bits, each a transaction of a millisecond or so, since appends wait for it (traces/deleter.py).
Where it is broken off, what is left is a trace with its end missing and texts noted as loose: the next run goes on.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from antiphon.vocabulary.errors import NotFoundError

_EVENTS_AT_ONCE = 40
_TEXTS_AT_ONCE = 20
_READ_AT_ONCE = 500
_PAGES_AT_ONCE = 8

_KEYS = re.compile(rb'"kept":"([0-9a-f]{64})"')

_LOOSE = "CREATE TABLE IF NOT EXISTS loose (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID"
"""Texts of deleted traces that other traces may hold; they outlive a run that is broken off."""


def ids_of_conversation(connection: sqlite3.Connection, session_id: str) -> list[str]:
    """The traces of a conversation.

    Raises:
        NotFoundError: No such conversation.
    """
    ids = [row[0] for row in connection.execute("SELECT query_id FROM queries WHERE session_id = ?", (session_id,))]
    known = connection.execute("SELECT 1 FROM conversations WHERE session_id = ?", (session_id,)).fetchone()
    if not ids and known is None:
        raise NotFoundError(f"there is no conversation {session_id!r}")
    return ids


def ids_to_prune(connection: sqlite3.Connection, older_than: float | None, most_bytes: int | None) -> list[str]:
    """The oldest traces that are over: those started before a time, and as many more as free what is too much."""
    over, old = connection.execute(
        "SELECT count(*), count(CASE WHEN started_at < ? THEN 1 END) FROM queries WHERE status != 'open'",
        (older_than,),
    ).fetchone()
    if most_bytes is not None:
        used = used_bytes(connection)
        # By the average, and a little more than that, or the store would be too large again at once; a text shared
        # with younger traces frees nothing, so another run may find more.
        excess = used - most_bytes * 95 // 100 if used > most_bytes else 0
        old = max(old, min(over, -(-excess * over // max(used, 1))))
    rows = connection.execute(
        "SELECT query_id FROM queries WHERE status != 'open' ORDER BY started_at, number LIMIT ?", (old,)
    )
    return [row[0] for row in rows]


def used_bytes(connection: sqlite3.Connection) -> int:
    """How much of the file is in use."""
    pages, free, size = (_pragma(connection, name) for name in ("page_count", "freelist_count", "page_size"))
    return (pages - free) * size


def forget_conversation(connection: sqlite3.Connection, session_id: str) -> None:
    """Deletes a conversation's own line."""
    connection.execute("DELETE FROM conversations WHERE session_id = ?", (session_id,))


def prepare(connection: sqlite3.Connection) -> None:
    """Makes room for what is to be noted."""
    connection.execute(_LOOSE)


def delete_some(connection: sqlite3.Connection, query_id: str) -> tuple[bool, bool]:
    """Deletes some of a trace; whether there was any of it, and whether nothing is left."""
    # From its end: a trace that is half deleted still stands in the listing, and can be deleted again.
    rows = connection.execute(
        "SELECT seq, body FROM events WHERE query_id = ? ORDER BY seq DESC LIMIT ?", (query_id, _EVENTS_AT_ONCE)
    ).fetchall()
    if rows:
        keys = [(bytes.fromhex(key.decode()),) for key in keys_in(body for _, body in rows)]
        connection.executemany("INSERT OR IGNORE INTO loose VALUES (?)", keys)
        connection.execute("DELETE FROM events WHERE query_id = ? AND seq >= ?", (query_id, rows[-1][0]))
    if len(rows) == _EVENTS_AT_ONCE:
        return True, False
    return _delete_line(connection, query_id) or bool(rows), True


def _delete_line(connection: sqlite3.Connection, query_id: str) -> bool:
    row = connection.execute("SELECT number FROM queries WHERE query_id = ?", (query_id,)).fetchone()
    if row is None:
        return False
    connection.execute("DELETE FROM marks WHERE number = ?", row)
    connection.execute("DELETE FROM words WHERE rowid IN (?, ?)", (row[0] * 2, row[0] * 2 + 1))
    connection.execute("DELETE FROM queries WHERE number = ?", row)
    return True


def loose_texts(connection: sqlite3.Connection) -> set[bytes]:
    """The texts of deleted traces, of which others may hold some."""
    return {row[0].hex().encode() for row in connection.execute("SELECT key FROM loose")}


def held_after(connection: sqlite3.Connection, at: int) -> tuple[int, set[bytes]]:
    """The texts that the next stored events refer to, and the last event looked at; `at` itself where none is left."""
    rows = connection.execute(
        "SELECT rowid, body FROM events WHERE rowid > ? ORDER BY rowid LIMIT ?", (at, _READ_AT_ONCE)
    ).fetchall()
    return (rows[-1][0] if rows else at), keys_in(body for _, body in rows)


def delete_texts(connection: sqlite3.Connection, loose: set[bytes], at: int) -> tuple[set[bytes], int]:
    """Deletes some loose texts, none of which an event up to `at` refers to; which are left, and the last event."""
    last, held = at, set[bytes]()
    while (found := held_after(connection, last))[0] != last:  # what was written meanwhile may hold one of them
        last, held = found[0], held | found[1]
    loose = loose - held
    some = sorted(loose)[:_TEXTS_AT_ONCE]
    connection.executemany("DELETE FROM kept WHERE key = ?", [(bytes.fromhex(key.decode()),) for key in some])
    left = loose.difference(some)
    if not left:
        connection.execute("DELETE FROM loose")
    return left, last


def merge_words(connection: sqlite3.Connection, *, first: bool) -> bool:
    """FTS5 only notes that a row is gone; merging all its parts into one takes the words away. Whether all is merged.

    https://www.sqlite.org/fts5.html#the_merge_command
    """
    before = connection.total_changes
    pages = -_PAGES_AT_ONCE if first else _PAGES_AT_ONCE
    connection.execute("INSERT INTO words (words, rank) VALUES ('merge', ?)", (pages,))
    return connection.total_changes - before < 2


def give_back(connection: sqlite3.Connection) -> bool:
    """Makes the file smaller by some of what is free in it; whether that is all, or all that can be had.

    A file that an earlier version made has no means to: its free room is used again, and it keeps its size.
    """
    if not _pragma(connection, "auto_vacuum"):
        return True
    free = _pragma(connection, "freelist_count")
    connection.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})").fetchall()
    return not 0 < _pragma(connection, "freelist_count") < free


def keys_in(bodies: Iterable[bytes]) -> set[bytes]:
    """The texts that events refer to, as the store holds them."""
    found: set[bytes] = set()
    for body in bodies:
        found.update(_KEYS.findall(body))
    return found


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
