"""The store's one writing connection: transactions, and appends of several traces in one of them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog
from msgspec.structs import replace

from antiphon.traces.checkpoint import Checkpointer
from antiphon.traces.gathering import Gathering
from antiphon.traces.packing import Packer
from antiphon.traces.reading import last_seq
from antiphon.traces.redacting import Redaction
from antiphon.traces.refusals import is_locked, reason
from antiphon.traces.turns import Batch
from antiphon.traces.writing import EventRow, event_row, note_query, write_events, write_texts
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import SequenceError, TraceError
from antiphon.vocabulary.events import QueryClosed

_log = structlog.get_logger(__name__)

_LOCK_PAUSE_S = 0.2
"""After a write met a lock, others are refused at once for so long: each try would hold up the event loop."""

_KNOWN_TEXTS = 4096


class Appender:
    """Writes to the store, and remembers what need not be looked up or written again.

    Args:
        redaction: What is blotted out of every event: the last net, behind the doors (decision 065).
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, redaction: Redaction, catalog: Catalog) -> None:
        self._path = path
        self._connection = connection
        self._redaction = redaction
        self._checkpointer = Checkpointer(path)
        self._packer = Packer()
        self._gathering = Gathering(catalog)
        self._known: set[str] = set()
        self._ends: dict[str, int] = {}
        self._seen_version = 0
        self._locked_until = 0.0

    def write(self, batches: Sequence[Batch]) -> list[SequenceError | None]:
        """Stores several batches in one transaction; one that another writer came before is left out alone."""
        batches = [self._redacted(batch) for batch in batches]
        rows = [self._rows(batch) for batch in batches]
        texts = self._packer.take_texts()
        errors: list[SequenceError | None] = []
        with self.transaction() as connection:
            self._forget_if_changed(connection)
            texts = {key: text for key, text in texts.items() if key not in self._known}
            write_texts(connection, texts)
            for batch, events in zip(batches, rows, strict=True):
                errors.append(self._out_of_sequence(batch))
                if errors[-1] is None:
                    write_events(connection, events)
                    for recorded in batch.events:
                        note_query(connection, batch.query_id, recorded, batch.owner)
                        self._gathering.note(connection, batch.query_id, recorded)
        self._remember(texts)
        self._note_ends(batches, errors)
        self._checkpointer.wrote(sum(_size(events) for events in rows) + sum(map(len, texts.values())))
        return errors

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction on the writing connection, all or nothing.

        Raises:
            TraceError: The store cannot be written.
        """
        if time.monotonic() < self._locked_until:
            raise TraceError("the trace store cannot be written: another process was writing to it a moment ago")
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._ends.clear()
            if is_locked(error):
                self._locked_until = time.monotonic() + _LOCK_PAUSE_S
            _log.warning("trace_store_refused", path=str(self._path), error=str(error))
            raise TraceError(f"the trace store cannot be written: {reason(error)}") from error
        except UnicodeEncodeError as error:
            raise TraceError("the trace store cannot be written: an id holds a lone surrogate, no text") from error
        finally:
            self._roll_back()

    @contextmanager
    def deleting(self, size_bytes: int) -> Iterator[sqlite3.Connection]:
        """A transaction that takes something away, and adds so much to the log.

        It need not outlive a power cut, whatever the appends must: what came back would be deleted again.
        """
        with self._not_flushed():
            with self.transaction() as connection:
                yield connection
            self._known.clear()
        self._checkpointer.wrote(size_bytes)

    async def log_moved(self) -> None:
        """Waits until the log was moved into the database, where that is under way.

        The log begins anew only when all of it was moved: one that is written to without a pause grows for ever.
        """
        if self._checkpointer.under_way:
            await asyncio.to_thread(self._checkpointer.wait)

    @contextmanager
    def _not_flushed(self) -> Iterator[None]:
        flushed = self._connection.execute("PRAGMA synchronous").fetchone()[0]
        self._connection.execute("PRAGMA synchronous = NORMAL")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA synchronous = {flushed}")

    def close(self) -> None:
        """Moves the write-ahead log into the database; blocks."""
        self._checkpointer.finish()
        self._connection.close()

    def _redacted(self, batch: Batch) -> Batch:
        if not self._redaction:
            return batch
        return batch._replace(events=[replace(each, event=self._redaction.event(each.event)) for each in batch.events])

    def _rows(self, batch: Batch) -> list[EventRow]:
        return [event_row(batch.query_id, each, self._packer.pack(each.event)) for each in batch.events]

    def _roll_back(self) -> None:
        """Ends a transaction that did not commit; there is none left after one that did."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            # SQLite rolled back by itself, as it does when the disk is full.
            _log.debug("trace_rollback_refused", error=str(error))

    def _out_of_sequence(self, batch: Batch) -> SequenceError | None:
        if batch.expected_seq and self._ends.get(batch.query_id) == batch.expected_seq:
            return None  # ours was the last append, and no other connection has written since
        found_seq = last_seq(self._connection, batch.query_id)
        if found_seq == batch.expected_seq:
            return None
        return SequenceError(batch.query_id, batch.expected_seq, found_seq)

    def _note_ends(self, batches: Sequence[Batch], errors: Sequence[SequenceError | None]) -> None:
        """Remembers the last `seq` of each trace under way, so that the next append need not look it up."""
        for batch, error in zip(batches, errors, strict=True):
            if error is None and not isinstance(batch.events[-1].event, QueryClosed):
                self._ends[batch.query_id] = batch.events[-1].seq
            else:
                self._ends.pop(batch.query_id, None)
                self._gathering.forget(batch.query_id)

    def _forget_if_changed(self, connection: sqlite3.Connection) -> None:
        """Another connection wrote: it may have deleted texts taken for stored here, or gone on with a trace."""
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._seen_version:
            self._seen_version = version
            self._known.clear()
            self._ends.clear()

    def _remember(self, texts: dict[str, str]) -> None:
        if len(self._known) > _KNOWN_TEXTS:
            self._known.clear()
        self._known.update(texts)


def _size(rows: Sequence[EventRow]) -> int:
    return sum(len(row[-1]) for row in rows)
