"""Deleting traces: their events at once, and the texts that no other trace holds."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Sequence

from vocabulary.errors import NotFoundError

_AT_ONCE = 50
"""Traces deleted in one transaction: writers wait for no longer than that takes."""

_KEYS = re.compile(rb'"kept":"([0-9a-f]{64})"')


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
    rows = connection.execute(
        "SELECT query_id, started_at FROM queries WHERE status != 'open' ORDER BY started_at, number"
    ).fetchall()
    old = sum(1 for _, started_at in rows if older_than is not None and started_at < older_than)
    if most_bytes is not None and rows:
        used = _used_bytes(connection)
        # By the average: a text shared with younger traces frees nothing, so a second run may find a little more.
        old = max(old, min(len(rows), -(-max(0, used - most_bytes) * len(rows) // max(used, 1))))
    return [query_id for query_id, _ in rows[:old]]


def delete_traces(connection: sqlite3.Connection, query_ids: Sequence[str]) -> int:
    """Deletes traces and the texts that only they hold; returns how many of them there were."""
    candidates: set[bytes] = set()
    deleted = 0
    for start in range(0, len(query_ids), _AT_ONCE):
        connection.execute("BEGIN IMMEDIATE")
        try:
            for query_id in query_ids[start : start + _AT_ONCE]:
                candidates |= _keys(connection.execute("SELECT body FROM events WHERE query_id = ?", (query_id,)))
                deleted += _delete_trace(connection, query_id)
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
    if candidates:
        _delete_texts(connection, candidates)
    return deleted


def forget_conversation(connection: sqlite3.Connection, session_id: str) -> None:
    """Deletes a conversation's own line."""
    connection.execute("DELETE FROM conversations WHERE session_id = ?", (session_id,))


def _delete_trace(connection: sqlite3.Connection, query_id: str) -> int:
    row = connection.execute("SELECT number, query FROM queries WHERE query_id = ?", (query_id,)).fetchone()
    if row is not None:
        connection.execute("DELETE FROM marks WHERE number = ?", (row[0],))
        connection.execute("DELETE FROM words WHERE rowid IN (?, ?)", (row[0] * 2, row[0] * 2 + 1))
        connection.execute("DELETE FROM queries WHERE query_id = ?", (query_id,))
    events = connection.execute("DELETE FROM events WHERE query_id = ?", (query_id,)).rowcount
    return int(row is not None or events > 0)


def _delete_texts(connection: sqlite3.Connection, candidates: set[bytes]) -> None:
    """Deletes those texts that no event refers to; what is written meanwhile is looked at under the lock."""
    last = connection.execute("SELECT coalesce(max(rowid), 0) FROM events").fetchone()[0]
    held = _keys(connection.execute("SELECT body FROM events WHERE rowid <= ?", (last,)))
    connection.execute("BEGIN IMMEDIATE")
    try:
        held |= _keys(connection.execute("SELECT body FROM events WHERE rowid > ?", (last,)))
        orphans = [(bytes.fromhex(key.decode()),) for key in candidates - held]
        connection.executemany("DELETE FROM kept WHERE key = ?", orphans)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _keys(rows: Iterable[tuple[bytes]]) -> set[bytes]:
    found: set[bytes] = set()
    for (body,) in rows:
        found.update(_KEYS.findall(body))
    return found


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)
