"""Who works on the queries that are not over: each process that may write holds a locked file while it lives.

The lock goes with the process, however it dies, so that another one can tell whether a query is being worked on
(flock: https://man7.org/linux/man-pages/man2/flock.2.html).
"""

from __future__ import annotations

import fcntl
import os
import uuid
from pathlib import Path

import structlog

_log = structlog.get_logger(__name__)

_SUFFIX = ".owner"


class Owner:
    """This process, or this store in it, as the owner of queries.

    Attributes:
        name: What the queries are marked with.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = uuid.uuid4().hex
        self._file: int | None = None

    def claim(self) -> None:
        """Takes the lock; once, when the first query begins."""
        if self._file is not None:
            return
        try:
            self._file = os.open(self._path(self.name), os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError as error:
            # The query goes on; at worst another process takes it for abandoned, and the store tells the two apart.
            _log.warning("trace_owner_not_marked", error=str(error))

    def lives(self, name: str) -> bool:
        """Whether another process that goes by `name` is still there; its file is removed where it is not."""
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
            self._path(name).unlink(missing_ok=True)
            return False
        finally:
            os.close(file)

    def release(self) -> None:
        """Lets go of the lock."""
        if self._file is not None:
            self._path(self.name).unlink(missing_ok=True)
            os.close(self._file)
            self._file = None

    def _path(self, name: str) -> Path:
        return self._folder / f".{Path(name).name}{_SUFFIX}"
