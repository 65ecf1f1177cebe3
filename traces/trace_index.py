"""The listing and the search index of traces whose events are stored elsewhere, in a file of their own.

It has the tables of the one-machine store, filled by the same code. It holds each query's answer, from which
conversations are read, and, until the query ends, its searchable events; an empty row for the last event of each append
gives the length of the trace.
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
from antiphon.traces.encryption import connector, database_errors
from antiphon.traces.event_log import last_seq, write_events
from antiphon.traces.event_rows import EventRow
from antiphon.traces.listing import note_query
from antiphon.traces.ownership import IMPORTED, Origin
from antiphon.traces.schema import open_writer
from antiphon.traces.search_index import SEARCHABLE, index_events
from antiphon.traces.unpacking import Unpacker
from antiphon.vocabulary.errors import DecodeError, TraceError
from antiphon.vocabulary.events import (
    VERSION,
    Event,
    QueryClosed,
    Recorded,
    ResponseAssembled,
)

T = TypeVar("T")

_log = structlog.get_logger(__name__)

_WAIT_MS = 10_000
"""Milliseconds that a write waits for another process of this machine that writes to the same file."""

_ANSWER = ResponseAssembled.kind_name()
_READ_KINDS = frozenset(kind.kind_name() for kind in SEARCHABLE)

_GATHERED = """
    SELECT seq, cause, at, version, body FROM events WHERE query_id = ? AND body != x'' ORDER BY seq
"""
_EMPTY = (
    "DELETE FROM events",
    "DELETE FROM queries",
    "DELETE FROM conversations",
    "DELETE FROM marks",
    "DELETE FROM words",
    "DELETE FROM question_sets",
)
_KEEP_ANSWER = "UPDATE events SET body = x'' WHERE query_id = ? AND kind != ?"


class TracePart(NamedTuple):
    """Events of a trace that were appended together.

    Attributes:
        number: The place of the trace among all, if these are its first events.
    """

    query_id: str
    rows: Sequence[EventRow]
    number: int
    label: str
    imported: bool

    @property
    def is_first(self) -> bool:
        """True for the beginning of a trace."""
        return self.rows[0].seq == 1

    @property
    def origin(self) -> Origin:
        """The origin; it names no process, because in this file only imported traces have an owner."""
        return Origin(IMPORTED if self.imported else "", self.label)


class TraceIndex:
    """The file; opened in a thread, and closed with `close`.

    Args:
        key: The key that it is encrypted with, 64 hex digits; None: it is not.

    Raises:
        ConfigurationError: The folder, the file or the key cannot be used.
    """

    def __init__(self, path: Path, key: str | None = None) -> None:
        self._connection = open_writer(path, key=key)
        self._connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
        # SQLite checkpoints by itself, unlike in the one-machine store, because nothing waits for these writes.
        self._connection.execute("PRAGMA wal_autocheckpoint = 1000")
        self._lock = threading.Lock()
        self.readers = Readers(StoreFile(path, connector(key)))

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
    """Adds the content of these events to the listing and the search index."""
    # A known trace with a new beginning was deleted elsewhere, and its id used again.
    if part.is_first:
        remove_trace(connection, part.query_id)
    elif last_seq(connection, part.query_id) >= part.rows[0].seq:
        _log.warning("trace_events_twice", query_id=part.query_id)
        return
    else:
        # A process continues the trace here, so it no longer counts as imported.
        connection.execute(
            "UPDATE queries SET owner = '' WHERE query_id = ?", (part.query_id,)
        )
    events = _events_in(part)
    for recorded in events:
        note_query(connection, part.query_id, recorded, part.origin, part.number)
    write_events(connection, _kept_rows(part, events))
    if any(isinstance(each.event, QueryClosed) for each in events):
        _index_whole(connection, part.query_id)


def _events_in(part: TracePart) -> list[Recorded[Event]]:
    """Decodes the events that affect the listing or the search index."""
    unpacker = Unpacker(_no_text)
    events: list[Recorded[Event]] = []
    for row in part.rows:
        if row.kind not in _READ_KINDS:
            continue
        query_id, seq, cause, at, _, version, body = row
        try:
            events.append(unpacker.unpack(query_id, seq, cause, at, version, body))
        except DecodeError as error:
            _log.warning("trace_event_not_searchable", error=str(error))
    return events


def _kept_rows(part: TracePart, events: Sequence[Recorded[Event]]) -> list[EventRow]:
    """Returns the rows of these events, in the current form, and an empty one for the last if it is not among them."""
    rows = {row.seq: row for row in part.rows}
    last = part.rows[-1]
    kept = {last.seq: last._replace(body=b"")}
    for recorded in events:
        kept[recorded.seq] = rows[recorded.seq]._replace(
            body=plain_event(recorded.event), version=VERSION
        )
    return list(kept.values())


def _index_whole(connection: sqlite3.Connection, query_id: str) -> None:
    """Adds an ended query to the search index, and keeps only its answer."""
    unpacker = Unpacker(_no_text)
    events = [
        unpacker.unpack(query_id, *row).event
        for row in connection.execute(_GATHERED, (query_id,)).fetchall()
    ]
    index_events(connection, query_id, events)
    connection.execute(_KEEP_ANSWER, (query_id, _ANSWER))


def remove_trace(connection: sqlite3.Connection, query_id: str) -> None:
    """Removes a trace from the listing and the search index."""
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
    """Removes deleted words from the file, which FTS5 has only marked as deleted."""
    connection.execute("INSERT INTO words (words) VALUES ('optimize')")


def remove_everything(connection: sqlite3.Connection) -> None:
    """Empties the tables."""
    for statement in _EMPTY:
        connection.execute(statement)


def _no_text(_: str) -> str:
    """Returns an empty text for every long text, because none of them is searched or listed."""
    return ""
