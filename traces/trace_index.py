"""What traces are listed and found by, in a file of its own, where their events are stored elsewhere.

It has the tables of the one-machine store and is filled by the same code. Of the events it holds an answer, which a
conversation is read from, and an empty row for the last one of each append, by which a trace's length is known.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import structlog

from antiphon.traces.codec import plain_event
from antiphon.traces.connections import Readers, StoreFile, reason
from antiphon.traces.encryption import database_errors
from antiphon.traces.event_log import EventRow, Unpacker, write_events
from antiphon.traces.listing import note_query
from antiphon.traces.ownership import IMPORTED
from antiphon.traces.schema import open_writer
from antiphon.traces.search_index import index_events
from antiphon.vocabulary.errors import DecodeError, TraceError
from antiphon.vocabulary.events import (
    VERSION,
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    ResponseAssembled,
    ToolRequested,
    ToolSucceeded,
)

T = TypeVar("T")

_log = structlog.get_logger(__name__)

_WAIT_MS = 10_000
"""Milliseconds that a write waits for another process of this machine that fills the same file."""

_ANSWER = ResponseAssembled.kind_name()
_READ_KINDS = frozenset(
    kind.kind_name()
    for kind in (
        QueryReceived,
        ToolRequested,
        ToolSucceeded,
        ResponseAssembled,
        QueryClosed,
    )
)


class TracePart(NamedTuple):
    """Events of a trace that were appended together.

    Attributes:
        number: The place of the trace among all, if these are its first events.
    """

    query_id: str
    rows: Sequence[EventRow]
    number: int
    tenant: str
    imported: bool

    @property
    def is_first(self) -> bool:
        """True for the beginning of a trace."""
        return self.rows[0].seq == 1


class TraceIndex:
    """The file; opened in a thread, and closed with `close`."""

    def __init__(self, path: Path) -> None:
        self._connection = open_writer(path)
        self._connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
        # Nobody moves the log by the way, as the one-machine store does: nothing waits for these writes.
        self._connection.execute("PRAGMA wal_autocheckpoint = 1000")
        self._lock = threading.Lock()
        self.readers = Readers(StoreFile(path))

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` in one transaction, in a thread.

        Raises:
            TraceError: The file cannot be written.
        """
        return await asyncio.to_thread(self._write, work)

    def close(self) -> None:
        """Closes the file."""
        self.readers.close()
        with self._lock:
            self._connection.close()

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._lock:
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    result = work(self._connection)
                    self._connection.execute("COMMIT")
                except BaseException:
                    self._connection.execute("ROLLBACK")
                    raise
                return result
        except database_errors() as error:
            raise TraceError(
                f"the list of traces cannot be written: {reason(error)}"
            ) from error


def index_part(connection: sqlite3.Connection, part: TracePart) -> None:
    """Adds what a trace is listed and found by, as far as these events say."""
    # Its id was used again after it had been deleted elsewhere.
    if part.is_first:
        remove_trace(connection, part.query_id)
    unpacker = Unpacker(_no_text)
    events: list[Event] = []
    kept: list[EventRow] = []
    owner = ""
    if part.imported:
        owner = IMPORTED
    for row in part.rows:
        recorded = _read(unpacker, row)
        if recorded is None:
            continue
        events.append(recorded.event)
        note_query(connection, part.query_id, recorded, owner, part.tenant, part.number)
        if row.kind == _ANSWER:
            kept.append(row._replace(body=plain_event(recorded.event), version=VERSION))
    index_events(connection, part.query_id, events)
    last = part.rows[-1]
    if last.kind != _ANSWER:
        kept.append(last._replace(body=b""))
    write_events(connection, kept)
    if not part.is_first:
        # Somebody goes on with it here, wherever it was recorded.
        connection.execute(
            "UPDATE queries SET owner = '' WHERE query_id = ?", (part.query_id,)
        )


def remove_trace(connection: sqlite3.Connection, query_id: str) -> None:
    """Removes everything that a trace is listed and found by."""
    connection.execute("DELETE FROM events WHERE query_id = ?", (query_id,))
    row = connection.execute(
        "SELECT number FROM queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        return
    connection.execute("DELETE FROM marks WHERE number = ?", row)
    connection.execute(
        "DELETE FROM words WHERE rowid IN (?, ?)", (row[0] * 2, row[0] * 2 + 1)
    )
    connection.execute("DELETE FROM queries WHERE number = ?", row)


def merge_words(connection: sqlite3.Connection) -> None:
    """Takes deleted words out of the file, where FTS5 only notes that they are gone."""
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")


def remove_everything(connection: sqlite3.Connection) -> None:
    """Empties the tables."""
    for table in ("events", "kept", "queries", "conversations", "marks", "words"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608 - names of this file


def _read(unpacker: Unpacker, row: EventRow) -> Recorded[Event] | None:
    """Decodes an event that says something about its query; None for any other."""
    if row.kind not in _READ_KINDS:
        return None
    try:
        return unpacker.unpack(
            row.query_id, row.seq, row.cause, row.at, row.version, row.body
        )
    except DecodeError as error:
        _log.warning("trace_event_not_searchable", error=str(error))
        return None


def _no_text(_: str) -> str:
    """Stands for every long text: none of them is searched or listed."""
    return ""
