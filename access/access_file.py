"""The file of keys, limits and spending: a small database of its own in the data folder."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from antiphon.vocabulary.errors import BusyError, ConfigurationError
from antiphon.vocabulary.private_files import make_private_file, make_private_folder

T = TypeVar("T")
Row = tuple[Any, ...]

FILE_NAME = "access.sqlite"
MODE_FILE = "access.mode"
"""Exists from the first key on, so that the service notices if the keys are lost; its text is for people."""
_MODE = "Callers need a key. `antiphon keys reset` takes this back.\n"
FORMAT = 1
_APPLICATION_ID = 0x416E7461
"""Marks the file as ours ("Anta")."""

SERVICE_WAIT_MS = 20
"""Milliseconds that a write of the service waits for another process at a time: it waits on the event loop."""
COMMAND_WAIT_MS = 5_000
_PAUSE_S = 0.02
_PATIENCE_S = 2.0
"""Seconds for which a write is tried again while another process holds the file."""

_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS keys (
    key_id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, tenant TEXT NOT NULL, scopes TEXT NOT NULL,
    hash BLOB NOT NULL, old_hash BLOB, old_until REAL, made_at REAL NOT NULL, expires_at REAL, revoked_at REAL
);
CREATE TABLE IF NOT EXISTS limits (
    holder TEXT NOT NULL PRIMARY KEY, requests INTEGER, tokens INTEGER, cost_usd REAL, at_once INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS used (
    day TEXT NOT NULL, tenant TEXT NOT NULL, key_id TEXT NOT NULL,
    requests INTEGER NOT NULL, tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
    PRIMARY KEY (day, tenant, key_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS under_way (
    query_id TEXT NOT NULL PRIMARY KEY, day TEXT NOT NULL, tenant TEXT NOT NULL, key_id TEXT NOT NULL,
    tokens INTEGER NOT NULL, cost_usd REAL NOT NULL
) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {FORMAT};
COMMIT;
"""


class AccessFile:
    """The file, opened once there is one; making the first key creates it.

    Reads and writes touch a few rows by their keys, take 10 to 100 µs, and run on the event loop.
    """

    def __init__(self, data_dir: Path, wait_ms: int = SERVICE_WAIT_MS) -> None:
        self._path = data_dir / FILE_NAME
        self._mode_path = data_dir / MODE_FILE
        self._wait_ms = wait_ms
        self._connection: sqlite3.Connection | None = None

    @property
    def is_there(self) -> bool:
        """True once there is such a file; until then each look takes two microseconds."""
        return self._connection is not None or self._path.exists()

    @property
    def asks_for_keys(self) -> bool:
        """True from the first key on, even if the keys were lost since."""
        return self._mode_path.exists()

    def ask_for_keys(self) -> None:
        """Notes on disk that callers need a key from now on.

        Raises:
            ConfigurationError: The note cannot be written.
        """
        if self.asks_for_keys:
            return
        try:
            make_private_folder(self._path.parent)
            make_private_file(self._mode_path)
            self._mode_path.write_text(_MODE)
        except OSError as error:
            raise _unusable(self._mode_path, error) from error

    def ask_for_no_keys(self) -> None:
        """Takes the note of `ask_for_keys` back."""
        self._mode_path.unlink(missing_ok=True)

    def open(self) -> sqlite3.Connection:
        """Returns the connection; makes the file if there is none.

        Raises:
            ConfigurationError: It cannot be made or used.
        """
        if self._connection is None:
            connection = _opened(self._path)
            connection.execute(f"PRAGMA busy_timeout = {self._wait_ms}")
            self._connection = connection
            # There are keys without the note if an earlier version made them, or they came from other nodes.
            if connection.execute("SELECT 1 FROM keys LIMIT 1").fetchone():
                self.ask_for_keys()
        return self._connection

    def read(self, query: str, values: Sequence[object] = ()) -> list[Row]:
        """Returns the rows of a query; none if there is no file.

        Raises:
            ConfigurationError: The file cannot be read; no caller is let in unchecked.
        """
        if not self.is_there:
            return []
        try:
            return self.open().execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Opens an all-or-nothing transaction that keeps every other writer out.

        Raises:
            ConfigurationError: The file cannot be written, or another process is writing.
        """
        connection = self.open()
        try:
            # Locks at once: a transaction that reads first would fail at its first write if another wrote meanwhile.
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Does `work` in a transaction; waits for another process that is writing.

        Raises:
            BusyError: The other wrote for too long, or the file cannot be written. The caller must not spend: nothing
                could count it.
        """
        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                with self.transaction() as connection:
                    return work(connection)
            except ConfigurationError as error:
                if time.monotonic() >= until:
                    raise BusyError(
                        "What is spent cannot be counted now, so nothing is spent: ask again in a moment."
                    ) from error
            await asyncio.sleep(_PAUSE_S)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _opened(path: Path) -> sqlite3.Connection:
    try:
        make_private_folder(path.parent)
        make_private_file(path)
        connection = sqlite3.connect(
            path, timeout=_PATIENCE_S, isolation_level=None, check_same_thread=False
        )
        _prepare(path, connection)
    except (sqlite3.Error, OSError) as error:
        raise _unusable(path, error) from error
    return connection


def _unusable(path: Path, error: Exception) -> ConfigurationError:
    return ConfigurationError(
        f"the file of keys {path.name} cannot be used ({error}): make it readable and writable for this user"
    )


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise ConfigurationError(
            f"the file of keys {path} has format {found}, from a newer Antiphon; this one reads format {FORMAT}"
        )
    connection.execute("PRAGMA journal_mode = WAL")
    # A commit outlives the death of the process; what was spent in the last moment before a power cut may be lost.
    connection.execute("PRAGMA synchronous = NORMAL")
    # Overwrites deleted rows, so that nothing of them stays in the file.
    connection.execute("PRAGMA secure_delete = ON")
    if found < FORMAT:
        connection.executescript(_TABLES)
