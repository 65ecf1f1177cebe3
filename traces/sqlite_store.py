"""The trace store of one machine: append-only tables in one SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import structlog

from traces.checkpoint import Checkpointer
from traces.packing import Packer
from traces.readers import Readers
from traces.reading import last_seq, read_exchanges, read_listing, read_trace, unknown_conversation
from traces.refusals import is_locked, reason
from traces.schema import open_writer
from traces.writing import EventRow, clear_conversation, event_row, note_query, open_conversation, write_events
from vocabulary.errors import SequenceError, TraceError
from vocabulary.events import AnyEvent, Event, Recorded
from vocabulary.ports import TraceSummary
from vocabulary.values import Exchange

_log = structlog.get_logger(__name__)

FILE_NAME = "traces.sqlite"

_LOCK_PAUSE_S = 0.2
"""After a write met a lock, others are refused at once for so long: each try would hold up the event loop."""

_KNOWN_TEXTS = 4096


class SqliteTraceStore:
    """Stores traces in `<folder>/traces.sqlite`; satisfies `TraceStore`.

    Appends run on the event loop, where one takes 0.04 to 0.3 ms; reads and checkpoints run in threads.
    Commits survive the death of the process; the last ones may be lost with the machine's power
    (WAL with synchronous NORMAL: https://www.sqlite.org/pragma.html#pragma_synchronous).
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._readers = Readers(path)
        self._checkpointer = Checkpointer(path)
        self._packer = Packer()
        self._known: set[str] = set()
        self._locked_until = 0.0

    @classmethod
    def open(cls, folder: Path) -> SqliteTraceStore:
        """Opens the store of a data folder, making both where they are missing.

        Raises:
            ConfigurationError: The folder or the file cannot be used.
        """
        path = folder / FILE_NAME
        return cls(path, open_writer(path))

    async def append(self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]) -> None:
        """Stores events whose first `seq` is `expected_seq + 1`, all or none.

        Raises:
            SequenceError: The log's last `seq` is not `expected_seq`.
            TraceError: The store cannot be written.
        """
        rows = [event_row(query_id, recorded, self._packer.pack(recorded.event)) for recorded in events]
        texts = {key: text for key, text in self._packer.take_texts().items() if key not in self._known}
        with self._transaction() as connection:
            self._check_sequence(query_id, expected_seq)
            write_events(connection, rows, texts)
            for recorded in events:
                note_query(connection, query_id, recorded)
        self._remember(texts)
        self._checkpointer.wrote(_size(rows, texts))

    async def read(self, query_id: str, after: int = 0) -> list[Recorded[AnyEvent]]:
        """The events with `seq` > `after`, in order.

        Raises:
            NotFoundError: No such trace.
            DecodeError: An event is of an unknown kind, version or shape.
            TraceError: The store cannot be read.
        """
        return await self._readers.run(partial(read_trace, query_id=query_id, after=after))

    async def list(self, limit: int = 50, before: float | None = None) -> Sequence[TraceSummary]:
        """The newest first; `before` (seconds since the epoch) pages on."""
        return await self._readers.run(partial(read_listing, limit=limit, before=before))

    async def exchanges(self, session_id: str, limit: int) -> Sequence[Exchange]:
        """The conversation's last answered exchanges since it was cleared, oldest first.

        Raises:
            NotFoundError: No such conversation.
        """
        return await self._readers.run(partial(read_exchanges, session_id=session_id, limit=limit))

    async def open_conversation(self, session_id: str) -> None:
        """Makes the conversation known."""
        with self._transaction() as connection:
            open_conversation(connection, session_id)

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets the exchanges so far (their traces stay).

        Raises:
            NotFoundError: No such conversation.
        """
        with self._transaction() as connection:
            known = clear_conversation(connection, session_id)
        if not known:
            raise unknown_conversation(session_id)

    async def close(self) -> None:
        """Moves the write-ahead log into the database and closes everything."""
        self._readers.close()
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._checkpointer.finish()
        self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if time.monotonic() < self._locked_until:
            raise TraceError("the trace store cannot be written: another process was writing to it a moment ago")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            if is_locked(error):
                self._locked_until = time.monotonic() + _LOCK_PAUSE_S
            _log.warning("trace_store_refused", path=str(self._path), error=str(error))
            raise TraceError(f"the trace store cannot be written: {reason(error)}") from error
        except UnicodeEncodeError as error:
            raise TraceError("the trace store cannot be written: an id holds a lone surrogate, no text") from error
        finally:
            self._roll_back()

    def _roll_back(self) -> None:
        """Ends a transaction that did not commit; there is none left after one that did."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            # SQLite rolled back by itself, as it does when the disk is full.
            _log.debug("trace_rollback_refused", error=str(error))

    def _check_sequence(self, query_id: str, expected_seq: int) -> None:
        found_seq = last_seq(self._connection, query_id)
        if found_seq != expected_seq:
            raise SequenceError(query_id, expected_seq, found_seq)

    def _remember(self, texts: dict[str, str]) -> None:
        if len(self._known) > _KNOWN_TEXTS:
            self._known.clear()
        self._known.update(texts)


def _size(rows: Sequence[EventRow], texts: dict[str, str]) -> int:
    return sum(len(row[-1]) for row in rows) + sum(len(text) for text in texts.values())
