"""Ownership of open queries: each process that may write holds a locked file while it lives.

The lock ends with the process, no matter how it dies, so another one can tell whether a query is abandoned (flock:
https://man7.org/linux/man-pages/man2/flock.2.html).
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import uuid
from pathlib import Path
from typing import NamedTuple

import structlog

from antiphon.traces.event_log import unknown_trace
from antiphon.vocabulary.errors import TraceStateError

_log = structlog.get_logger(__name__)

_SUFFIX = ".owner"

IMPORTED = "imported"
"""The owner of traces from files: no process resumes them by itself."""


class Origin(NamedTuple):
    """The origin of a trace, as the store keeps it.

    Attributes:
        owner: The process that writes it, or `IMPORTED`.
        label: The tenant that it belongs to.
    """

    owner: str
    label: str


class Owner:
    """This process, or one store in it, as the owner of queries.

    Attributes:
        name: The mark on its queries.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = uuid.uuid4().hex
        self._file: int | None = None

    def claim(self) -> None:
        """Takes the lock, once, when the first query begins."""
        if self._file is not None:
            return
        try:
            self._file = os.open(self._path(self.name), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError as error:
            # The query continues; at worst another process takes it for abandoned, and the store refuses one of the
            # two.
            _log.warning("trace_owner_not_marked", error=str(error))

    def lives(self, name: str) -> bool:
        """Returns True if the process called `name` is alive; removes its file if it is not."""
        if name == self.name:
            return True
        try:
            file = os.open(self._path(name), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
        else:
            # The lock was free, so its holder is dead.
            self._path(name).unlink(missing_ok=True)
            return False
        finally:
            os.close(file)

    def release(self) -> None:
        """Releases the lock."""
        if self._file is not None:
            self._path(self.name).unlink(missing_ok=True)
            os.close(self._file)
            self._file = None

    def _path(self, name: str) -> Path:
        return self._folder / f".{Path(name).name}{_SUFFIX}"


def read_unfinished(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Reads the open queries and the owner of each, the oldest first."""
    rows = connection.execute(
        "SELECT query_id, owner FROM queries WHERE status = 'open' ORDER BY started_at, number"
    )
    return [(str(query_id), str(owner)) for query_id, owner in rows]


def is_imported(connection: sqlite3.Connection, query_id: str) -> bool:
    """Returns True for a trace from a file that no process has continued here.

    Raises:
        NotFoundError: No such trace.
    """
    row = connection.execute(
        "SELECT owner FROM queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        raise unknown_trace(query_id)
    return str(row[0]) == IMPORTED


def check_abandoned(
    connection: sqlite3.Connection, query_id: str, owner: Owner
) -> None:
    """Refuses a query that `owner` cannot take over; only reads.

    Raises:
        NotFoundError: No such trace.
        TraceStateError: It is over, or another process works on it.
    """
    row = connection.execute(
        "SELECT status, owner FROM queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        raise unknown_trace(query_id)
    status, found = str(row[0]), str(row[1])
    if status != "open":
        raise TraceStateError(
            f"query {query_id} is over ({status}): there is nothing to go on with"
        )
    if found != owner.name and owner.lives(found):
        raise TraceStateError(
            f"query {query_id} is being worked on by another process: leave it to that one"
        )


def take_over(connection: sqlite3.Connection, query_id: str, owner: Owner) -> None:
    """Makes `owner` the owner of an open query. Raises as `check_abandoned` does."""
    check_abandoned(connection, query_id, owner)
    connection.execute(
        "UPDATE queries SET owner = ? WHERE query_id = ?", (owner.name, query_id)
    )
