"""Connections to the store's file: a few that read, one that moves the log, and the meaning of SQLite's refusals."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import structlog

from antiphon.traces.encryption import Connect, database_errors, why_unreadable
from antiphon.vocabulary.errors import NotFoundError, TraceError

T = TypeVar("T")

_log = structlog.get_logger(__name__)

OPEN_TIMEOUT_S = 5.0
"""Seconds that opening may wait for another process that opens or checkpoints the file."""

CHECKPOINT_BYTES = 4_000_000
"""Bytes written since the last checkpoint after which the next one is due, approximately."""

_LONG_LOG_BYTES = 4 * CHECKPOINT_BYTES
"""Length beyond which the log must start over; writers wait for that."""

_READERS_S = 0.1
"""Seconds that writers then wait for readers; each takes some milliseconds."""

_COMMIT_BYTES = 13_000
"""Bytes that a commit adds to the log besides its contents (whole pages of table and indexes), measured."""

_MOST_WAIT_S = 0.2
"""Seconds that a write waits for a checkpoint: the bus gives an append half a second in all."""

_IDLE = 4
"""Connections kept open for the next read; opening one costs more than most reads."""

_REASONS = {
    sqlite3.SQLITE_BUSY: "another process is writing to it; try again in a moment",
    sqlite3.SQLITE_LOCKED: "another connection is writing to it; try again in a moment",
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


def reason(error: Exception) -> str:
    """Returns the reason of SQLite's refusal and a remedy, without naming a path."""
    return _REASONS.get(_code(error), f"SQLite says: {error}")


class LockedError(TraceError):
    """Another process is writing to the store: the same write may succeed in a moment."""


def why_unusable(path: Path, key: str | None, error: Exception) -> str:
    """Returns the reason why SQLite refused a file opened with this key, and a remedy."""
    # The file is not SQLite's, or is encrypted.
    if _code(error) == sqlite3.SQLITE_NOTADB:
        return why_unreadable(path, key) or reason(error)
    return reason(error)


def is_locked(error: Exception) -> bool:
    """Returns True if the same call may succeed in a moment."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: Exception) -> int:
    # Errors of Python's module itself (a closed connection) carry no SQLite code.
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY


class StoreFile:
    """The store's file as it was opened, to notice when it disappears.

    SQLite keeps using a deleted file, and everything written then is lost when the process ends.

    Attributes:
        connect: Opens a connection to it.
    """

    def __init__(self, path: Path, connect: Connect = sqlite3.connect) -> None:
        self.path = path
        self._name = str(path)
        self.connect = connect
        self._opened = self._found()

    def check(self) -> None:
        """Refuses to continue if the file was deleted, moved or replaced; takes two microseconds.

        Raises:
            TraceError: It was deleted, moved or replaced.
        """
        if self._opened is None or self._found() != self._opened:
            raise TraceError(
                "the trace store was deleted or moved while it was in use, so nothing is recorded any more: "
                "put it back and restart"
            )

    def _found(self) -> tuple[int, int] | None:
        try:
            found = os.stat(self._name)
        except OSError:
            return None
        return found.st_dev, found.st_ino


class Readers:
    """Reads the store in threads, over a few read-only connections, opened on demand."""

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` in a thread and returns its result.

        Raises:
            NotFoundError: An id holds a lone surrogate, so no trace can have it.
            TraceError: The store cannot be read.
        """
        if self._closed:
            raise TraceError("the trace store is closed; open it again to read")
        self._file.check()
        try:
            return await asyncio.to_thread(self._read, work)
        except database_errors() as error:
            raise TraceError(
                f"the trace store cannot be read: {reason(error)}"
            ) from error
        except UnicodeEncodeError as error:
            raise NotFoundError(
                "an id with a lone surrogate is no text, so nothing has it"
            ) from error

    def close(self) -> None:
        """Closes idle connections now, and busy ones when their read ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._idle.pop()
        except IndexError:
            uri = f"{self._file.path.absolute().as_uri()}?mode=ro"
            connection = self._file.connect(
                uri, uri=True, timeout=OPEN_TIMEOUT_S, check_same_thread=False
            )
        try:
            return work(connection)
        finally:
            if self._closed or len(self._idle) >= _IDLE:
                connection.close()
            else:
                self._idle.append(connection)


class Checkpointer:
    """Moves the write-ahead log into the database in a thread, when it has grown enough.

    Moving 4 MB takes 11 to 29 ms, most of it spent waiting for the disk: too long for the event loop. Writers wait
    meanwhile, because the log starts over only if nothing is written to it during the move: a log written to without a
    pause would grow for ever.
    """

    def __init__(self, file: StoreFile) -> None:
        self._file = file
        self._written = 0
        self._moving: asyncio.Future[None] | None = None

    def wrote(self, size_bytes: int) -> None:
        """Notes one commit."""
        self._written += size_bytes + _COMMIT_BYTES

    @property
    def is_ready(self) -> bool:
        """True if a write to the log need not wait."""
        return self._written < CHECKPOINT_BYTES and not self._is_moving()

    async def ready(self) -> None:
        """Waits until the log may be written to, but no longer than the limit if the disk is slow."""
        if not self._is_moving():
            if self._written < CHECKPOINT_BYTES:
                return
            self._written = 0
            self._moving = asyncio.ensure_future(asyncio.to_thread(self._move))
        if self._moving is not None:
            await asyncio.wait([self._moving], timeout=_MOST_WAIT_S)

    async def finish(self) -> None:
        """Moves as much of the log as possible without holding up any other connection."""
        if self._moving is not None and self._is_moving():
            await asyncio.wait([self._moving])
        # Not with TRUNCATE, which keeps other processes from writing meanwhile; the last connection to close deletes
        # the log.
        await asyncio.to_thread(self._move)

    def _is_moving(self) -> bool:
        """Returns True if a move is under way that this event loop can await.

        A store may outlive the event loop that wrote to it, and another loop cannot await that one's futures.
        """
        moving = self._moving
        return (
            moving is not None
            and not moving.done()
            and moving.get_loop() is asyncio.get_running_loop()
        )

    def _move(self) -> None:
        # Opened only if it exists: a deleted store must not come back as an empty file.
        uri = f"{self._file.path.absolute().as_uri()}?mode=rw"
        try:
            with closing(
                self._file.connect(
                    uri, uri=True, timeout=_READERS_S, isolation_level=None
                )
            ) as connection:
                _checkpoint(connection)
        except database_errors() as error:
            # Nothing is lost: the log stays as it is, and the next checkpoint moves it.
            _log.warning(
                "trace_checkpoint_failed", path=str(self._file.path), error=str(error)
            )


def _checkpoint(connection: sqlite3.Connection) -> None:
    # PASSIVE waits for neither readers nor other processes, and makes none of them wait.
    _, pages, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    # SQLCipher returns the number as text.
    page_bytes = int(connection.execute("PRAGMA page_size").fetchone()[0])
    # A log this long was written to during every move, as happens on a slow disk. The rest is short; RESTART moves it
    # while keeping writers out: https://www.sqlite.org/pragma.html#pragma_wal_checkpoint.
    if pages * page_bytes > _LONG_LOG_BYTES:
        connection.execute("PRAGMA wal_checkpoint(RESTART)")
