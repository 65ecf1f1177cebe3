"""Moves the write-ahead log into the database behind the writer's back, so that no append ever waits for it."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import structlog

_log = structlog.get_logger(__name__)

CHECKPOINT_BYTES = 4_000_000
"""The log is moved when about this much was written since the last time."""

_COMMIT_BYTES = 13_000
"""What a commit adds to the log beside its contents (whole pages of table and indexes), measured."""

_CLOSE_WAIT_S = 10.0


class Checkpointer:
    """Counts what is written and, when it is enough, checkpoints in a thread with a connection of its own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = 0
        self._thread: threading.Thread | None = None

    def wrote(self, size_bytes: int) -> None:
        """Notes one commit; starts a checkpoint when the log has grown enough and none is under way."""
        self._written += size_bytes + _COMMIT_BYTES
        if self._written < CHECKPOINT_BYTES or self.under_way:
            return
        self._written = 0
        # PASSIVE neither waits for readers and writers nor makes them wait.
        self._thread = threading.Thread(
            target=self._run, args=("PRAGMA wal_checkpoint(PASSIVE)",), daemon=True, name="checkpoint_run"
        )
        self._thread.start()

    @property
    def under_way(self) -> bool:
        """Whether the log is being moved."""
        return self._thread is not None and self._thread.is_alive()

    def wait(self) -> None:
        """Waits for a checkpoint under way; blocks."""
        if self._thread:
            self._thread.join(_CLOSE_WAIT_S)

    def finish(self) -> None:
        """Waits for a checkpoint under way and moves the rest; blocks."""
        self.wait()
        self._run("PRAGMA wal_checkpoint(TRUNCATE)")

    def _run(self, checkpoint: str) -> None:
        try:
            with closing(sqlite3.connect(self._path, timeout=1.0, isolation_level=None)) as connection:
                connection.execute(checkpoint)
        except sqlite3.Error as error:
            # Nothing is lost: the log stays as it is, and the next checkpoint moves it.
            _log.warning("trace_checkpoint_failed", path=str(self._path), error=str(error))
