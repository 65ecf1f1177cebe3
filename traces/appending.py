"""The store's one writing connection: its transactions, and its memory of what it wrote."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import structlog

from antiphon.traces.connections import (
    Checkpointer,
    LockedError,
    StoreFile,
    is_locked,
    reason,
)
from antiphon.traces.encryption import database_errors
from antiphon.traces.event_log import last_seq, write_events, write_texts
from antiphon.traces.listing import note_query
from antiphon.traces.packing import Batch, BatchPacker, Packed
from antiphon.traces.redacting import Redaction
from antiphon.traces.search_index import SEARCHABLE, SearchIndex
from antiphon.vocabulary.errors import SequenceError, TraceError
from antiphon.vocabulary.events import QueryClosed
from antiphon.vocabulary.health import LastTry

T = TypeVar("T")

_log = structlog.get_logger(__name__)

LOCK_PAUSE_S = 0.04
_LONG_LOCK_PAUSE_S = 0.2
"""Seconds without a try after a write has met a long lock: each try holds up the event loop."""

_SHORT_LOCK_S = 0.35
"""Age of another process's lock up to which appends wait for it: the bus gives each append half a second in all.

A process that deletes traces holds many short locks; waiting for a longer one would be in vain.
"""

_KNOWN_TEXTS = 4096


class Writer:
    """Writes to the store, and remembers what it need not look up or write again.

    Args:
        redaction: Redacts every event: the last safety net, after the redactions at the sources.
    """

    def __init__(
        self,
        file: StoreFile,
        connection: sqlite3.Connection,
        redaction: Redaction,
    ) -> None:
        self._file = file
        self._connection = connection
        self._checkpointer = Checkpointer(file)
        self._packer = BatchPacker(redaction)
        self._search_index = SearchIndex()
        self._known: set[str] = set()
        self._ends: dict[str, int] = {}
        self._seen_version = 0
        self._locked_since: float | None = None
        self._paused_until = 0.0
        self.last_write = LastTry()

    @property
    def lock_is_long(self) -> bool:
        """True if another process has kept this one from writing for longer than an append waits."""
        if self._locked_since is None:
            return False
        return time.monotonic() - self._locked_since > _SHORT_LOCK_S

    @property
    def is_ready(self) -> bool:
        """True if no checkpoint is under way or due."""
        return self._checkpointer.is_ready

    async def ready(self) -> None:
        """Waits while a checkpoint is under way."""
        await self._checkpointer.ready()

    def pack(self, batch: Batch) -> Packed:
        """Redacts and encodes a batch."""
        return self._packer.pack(batch, self._known)

    def write(self, group: Sequence[Packed]) -> list[SequenceError | None]:
        """Stores several batches in one transaction; leaves out only those that another writer forestalled."""
        errors: list[SequenceError | None] = []
        with self.transaction() as connection:
            self._forget_if_changed(connection)
            for packed in group:
                error = self._out_of_sequence(packed.batch)
                errors.append(error)
                if error is None:
                    self._write_batch(connection, packed)
        # Only committed batches are remembered.
        for packed, error in zip(group, errors, strict=True):
            self._remember(packed, error)
        return errors

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Opens a transaction on the writing connection, all or nothing.

        Raises:
            TraceError: The store cannot be written.
        """
        if time.monotonic() < self._paused_until:
            raise LockedError(
                "the trace store cannot be written: another process was writing to it; try again in a moment"
            )
        self._check_file()
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            self._locked_since = None
            yield self._connection
            self._connection.execute("COMMIT")
            self.last_write.note()
        except database_errors() as error:
            self._ends.clear()
            wrong = f"the trace store cannot be written: {reason(error)}"
            # Not logged here: the code that waits for a lock tries again, and logs it if that does not help.
            if is_locked(error):
                self._pause()
                if self.lock_is_long:
                    self.last_write.note(wrong)
                raise LockedError(wrong) from error
            self.last_write.note(wrong)
            _log.warning(
                "trace_store_refused", path=str(self._file.path), error=str(error)
            )
            raise TraceError(wrong) from error
        except UnicodeEncodeError as error:
            raise TraceError(
                "the trace store cannot be written: an id holds a lone surrogate, no text"
            ) from error
        finally:
            self._roll_back()

    async def touch(self) -> None:
        """Makes a write that changes nothing, to find out if the store can be written.

        Raises:
            TraceError: It cannot.
        """
        await self.ready()
        await self.run(_touch)
        self._checkpointer.wrote(0)

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` in a transaction and returns its result; waits for short locks, as appends do.

        Raises:
            TraceError: The store cannot be written.
        """
        while True:
            try:
                with self.transaction() as connection:
                    return work(connection)
            except LockedError:
                if self.lock_is_long:
                    raise
            await asyncio.sleep(LOCK_PAUSE_S)

    async def catch_up(self) -> None:
        """Adds all finished queries to the search index, as far as the store can be written."""
        try:
            done = False
            while not done:
                done = await self.run(self._search_index.catch_up)
                # Lets other work of the event loop run between two commits.
                await asyncio.sleep(0)
        except TraceError as error:
            _log.warning("traces_not_indexed", error=str(error))

    @contextmanager
    def deleting(self, size_bytes: int) -> Iterator[sqlite3.Connection]:
        """Opens a transaction that deletes something, and adds `size_bytes` to the log.

        It need not survive a power cut, even if appends must: the next run deletes again what came back.
        """
        flushed = self._connection.execute("PRAGMA synchronous").fetchone()[0]
        self._connection.execute("PRAGMA synchronous = NORMAL")
        try:
            with self.transaction() as connection:
                yield connection
        finally:
            self._connection.execute(f"PRAGMA synchronous = {flushed}")
        # Some of the known texts may be deleted now.
        self._known.clear()
        self._checkpointer.wrote(size_bytes)

    async def close(self) -> None:
        """Brings the search index up to date, and moves the write-ahead log into the database."""
        if self._search_index.is_behind:
            await self.catch_up()
        await self._checkpointer.finish()
        await asyncio.to_thread(self._connection.close)

    def _write_batch(self, connection: sqlite3.Connection, packed: Packed) -> None:
        batch = packed.batch
        texts = {
            key: text for key, text in packed.texts.items() if key not in self._known
        }
        write_texts(connection, texts)
        write_events(connection, packed.rows)
        if batch.expected_seq == 0:
            self._search_index.begin(batch.query_id)
        for recorded in batch.events:
            # Most events change neither the listing nor the search index, and each call here costs time.
            if type(recorded.event) in SEARCHABLE:
                note_query(connection, batch.query_id, recorded, batch.origin)
                self._search_index.note(connection, batch.query_id, recorded)

    def _check_file(self) -> None:
        try:
            self._file.check()
        except TraceError as error:
            self.last_write.note(str(error))
            raise

    def _pause(self) -> None:
        now = time.monotonic()
        # A lock met after a pause without tries is another one, and may be short.
        untried_s = now - self._paused_until
        if self._locked_since is None or untried_s > _SHORT_LOCK_S:
            self._locked_since = now
        pause_s = _LONG_LOCK_PAUSE_S if self.lock_is_long else LOCK_PAUSE_S
        self._paused_until = now + pause_s

    def _roll_back(self) -> None:
        """Ends a transaction that did not commit; after a commit there is none left."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except database_errors() as error:
            # SQLite has rolled back by itself, as it does when the disk is full.
            _log.debug("trace_rollback_refused", error=str(error))

    def _out_of_sequence(self, batch: Batch) -> SequenceError | None:
        if batch.expected_seq and self._ends.get(batch.query_id) == batch.expected_seq:
            return None  # ours was the last append, and no other connection has written since
        found_seq = last_seq(self._connection, batch.query_id)
        if found_seq == batch.expected_seq:
            return None
        return SequenceError(batch.query_id, batch.expected_seq, found_seq)

    def _remember(self, packed: Packed, error: SequenceError | None) -> None:
        """Remembers what the next append need not look up or write: the last `seq` of a trace, and stored texts."""
        batch = packed.batch
        if error is not None:
            # Another writer continues the trace: our knowledge of it is out of date.
            self._forget_query(batch.query_id)
            return
        if isinstance(batch.events[-1].event, QueryClosed):
            self._ends.pop(batch.query_id, None)
        else:
            self._ends[batch.query_id] = batch.events[-1].seq
        if len(self._known) > _KNOWN_TEXTS:
            self._known.clear()
        size = 0
        for row in packed.rows:
            size += len(row.body)
        for key, text in packed.texts.items():
            if key not in self._known:
                size += len(text)
                self._known.add(key)
        self._checkpointer.wrote(size)

    def _forget_query(self, query_id: str) -> None:
        self._ends.pop(query_id, None)
        self._search_index.forget(query_id)

    def _forget_if_changed(self, connection: sqlite3.Connection) -> None:
        """Forgets everything that another connection may have changed, by deleting texts or continuing a trace."""
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._seen_version:
            self._seen_version = version
            self._known.clear()
            self._ends.clear()


def _touch(connection: sqlite3.Connection) -> None:
    # Setting the format's number to its own value rewrites the first page.
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {int(number)}")
