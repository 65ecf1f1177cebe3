"""The index by which traces are found: marks (course, tool, indicator), and the words of question and answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import structlog

from antiphon.traces.codec import sound_text
from antiphon.traces.event_log import read_trace, unpacker_of
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    ResponseAssembled,
    ToolRequested,
    ToolSucceeded,
)

_log = structlog.get_logger(__name__)

_SEARCHABLE = (QueryReceived, ToolRequested, ToolSucceeded, ResponseAssembled)
"""The events that say what a query can be found by."""

_MOST_QUERIES = 1000
"""Queries that never end here (another process goes on with them) must not pile up in memory."""

_LINE_OF = "SELECT number, started_at FROM queries WHERE query_id = ?"
_MARK = (
    "INSERT OR IGNORE INTO marks (kind, value, started_at, number) VALUES (?, ?, ?, ?)"
)
_WORDS = "INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)"
_STORED_SEARCHABLE = """
    SELECT query_id, seq, cause, at, version, body FROM events
    WHERE kind IN ('query_received', 'tool_requested', 'tool_succeeded', 'response_assembled')
        AND query_id IN (SELECT query_id FROM queries)
"""


def index_events(
    connection: sqlite3.Connection, query_id: str, events: Iterable[Event]
) -> None:
    """Adds what a query can be found by, as far as these events of it say."""
    line = connection.execute(_LINE_OF, (query_id,)).fetchone()
    if line is None:
        return  # a trace without a beginning stands in no list
    number, started_at = line
    for event in events:
        for kind, value in _marks_of(event):
            connection.execute(_MARK, (kind, sound_text(value), started_at, number))
        # Question and answer have a row each, so that one can be added before the other is known.
        if isinstance(event, QueryReceived):
            connection.execute(_WORDS, (number * 2, sound_text(event.query)))
        elif isinstance(event, ResponseAssembled):
            connection.execute(_WORDS, (number * 2 + 1, sound_text(event.answer)))


def _marks_of(event: Event) -> list[tuple[str, str]]:
    match event:
        case ToolRequested(call=call):
            return [("tool", call.name)]
        case ToolSucceeded(passages=passages):
            courses: list[tuple[str, str]] = []
            for passage in passages:
                if passage.course:
                    courses.append(("course", passage.course))
            return courses
        case ResponseAssembled(indicators=indicators):
            return [("indicator", indicator.kind) for indicator in indicators]
    return []


class SearchIndex:
    """Gathers what queries will be found by while they run, and adds it in the commit that ends each.

    Adding it bit by bit would cost each query eleven pages more in the log (decision 064).
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._gathered: dict[str, list[Event]] = {}

    def note(
        self, connection: sqlite3.Connection, query_id: str, recorded: Recorded[Event]
    ) -> None:
        """Gathers an event that was written, or adds the whole query at its end."""
        if recorded.seq == 1:
            if len(self._gathered) >= _MOST_QUERIES:
                self._gathered.pop(next(iter(self._gathered)))
            self._gathered[query_id] = []
        kind = type(recorded.event)
        if kind is QueryClosed:
            index_events(connection, query_id, self._events_of(connection, query_id))
        elif kind in _SEARCHABLE and query_id in self._gathered:
            self._gathered[query_id].append(recorded.event)

    def forget(self, query_id: str) -> None:
        """Lets go of a query that is over, once that is stored."""
        self._gathered.pop(query_id, None)

    def _events_of(
        self, connection: sqlite3.Connection, query_id: str
    ) -> Iterable[Event]:
        if query_id in self._gathered:
            return self._gathered[query_id]
        # Another process began it: its events are in the store.
        try:
            return [
                recorded.event
                for recorded in read_trace(connection, query_id, catalog=self._catalog)
            ]
        except DecodeError as error:
            _log.warning("trace_not_searchable", query_id=query_id, error=str(error))
            return ()


def index_everything(connection: sqlite3.Connection) -> None:
    """Adds what all stored queries are found by, all or nothing; an event that cannot be read is left out."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DELETE FROM words")
        unpacker = unpacker_of(connection)
        for query_id, *row in connection.execute(_STORED_SEARCHABLE).fetchall():
            try:
                index_events(
                    connection, query_id, [unpacker.unpack(query_id, *row).event]
                )
            except DecodeError as error:
                _log.warning("trace_event_not_searchable", error=str(error))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
