"""What SQLite's errors mean for whoever runs the service, in one table."""

from __future__ import annotations

import sqlite3

_REASONS = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; what could not be written is tried again",
    sqlite3.SQLITE_LOCKED: "another connection is writing to it; what could not be written is tried again",
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "it may not be written; give this user the right to write to the data folder",
    sqlite3.SQLITE_PERM: "it may not be opened; give this user the right to read and write the data folder",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; give this user the right to read and write the data folder",
    sqlite3.SQLITE_IOERR: "the disk refused to read or write; check its free space and its health",
    sqlite3.SQLITE_CORRUPT: "it is damaged; move it away, and a new one is begun",
    sqlite3.SQLITE_NOTADB: "it is no trace store; move it away, and a new one is begun",
}
_PRIMARY = 0xFF
"""The low byte of an extended code is its primary code: https://www.sqlite.org/rescode.html."""


def reason(error: sqlite3.Error) -> str:
    """Why SQLite refused, and what to do, without naming a path."""
    return _REASONS.get(_code(error), f"SQLite says: {error}")


def is_locked(error: sqlite3.Error) -> bool:
    """Whether the same call may succeed in a moment."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: sqlite3.Error) -> int:
    # Errors of Python's own module (a closed connection) carry no code of SQLite's.
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY
