"""Reads the store in threads, each with a connection that cannot write."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from antiphon.traces.refusals import reason
from antiphon.traces.schema import open_reader
from antiphon.vocabulary.errors import NotFoundError, TraceError

T = TypeVar("T")

_IDLE = 4
"""Connections kept open for the next read; opening one costs more than most reads."""


class Readers:
    """A few read-only connections, opened when they are needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """What `work` returns, run in a thread.

        Raises:
            NotFoundError: An id is no text.
            TraceError: The store cannot be read.
        """
        if self._closed:
            raise TraceError("the trace store is closed; open it again to read")
        try:
            return await asyncio.to_thread(self._read, work)
        except sqlite3.Error as error:
            raise TraceError(f"the trace store cannot be read: {reason(error)}") from error
        except UnicodeEncodeError as error:
            raise NotFoundError("an id with a lone surrogate is no text, so nothing has it") from error

    def close(self) -> None:
        """Closes idle connections now, and those in use when their read ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = open_reader(self._path)
        try:
            return work(connection)
        finally:
            self._put_back(connection)

    def _put_back(self, connection: sqlite3.Connection) -> None:
        if self._closed or len(self._idle) >= _IDLE:
            connection.close()
        else:
            self._idle.append(connection)
