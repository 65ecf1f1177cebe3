"""The search index of traces: marks (course, tool, indicator), and the words of question and answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import structlog

from antiphon.traces.codec import sound_text
from antiphon.traces.event_log import read_trace, unpacker_of
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
    ResponseAssembled,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import TraceFilter

_log = structlog.get_logger(__name__)

SEARCHABLE: frozenset[type[Event]] = frozenset(
    (
        QueryReceived,
        QueryResumed,
        ToolRequested,
        ToolSucceeded,
        ResponseAssembled,
        QueryClosed,
    )
)
"""The events with the content of the listing and the search index, and with the query's duration."""

_MOST_QUERIES = 1000
"""Most queries in memory: some never end here, because another process continues them."""

_TOGETHER = 16
"""Queries that one commit adds to the index, in about a millisecond."""
_READ_TOGETHER = 2
"""How many of them it may have to read from the store, a millisecond each."""

_OWE = "INSERT OR IGNORE INTO unindexed SELECT number FROM queries WHERE query_id = ?"
_OWED = "SELECT number, query_id FROM unindexed JOIN queries USING (number) ORDER BY number LIMIT ?"
_PAID = "DELETE FROM unindexed WHERE number = ?"
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


class Findable:
    """The searchable content of a query, collected from its events."""

    __slots__ = ("_answer", "_marks", "_question")

    def __init__(self) -> None:
        # A dictionary, which keeps each mark once and in order.
        self._marks: dict[tuple[str, str], None] = {}
        self._question: str | None = None
        self._answer: str | None = None

    def add(self, event: Event) -> None:
        """Collects an event's searchable content; most have none."""
        match event:
            case QueryReceived(query=query):
                self._question = query
            case ToolRequested(call=call):
                self._marks["tool", call.name] = None
            case ToolSucceeded(passages=passages):
                for passage in passages:
                    if passage.course:
                        self._marks["course", passage.course] = None
            case ResponseAssembled(indicators=indicators, answer=answer):
                self._answer = answer
                for indicator in indicators:
                    self._marks["indicator", indicator.kind] = None

    def write(self, connection: sqlite3.Connection, query_id: str) -> None:
        """Adds the content to the index."""
        line = connection.execute(_LINE_OF, (query_id,)).fetchone()
        if line is None:
            return  # no listing holds a trace without a beginning
        number, started_at = line
        for kind, value in self._marks:
            connection.execute(_MARK, (kind, sound_text(value), started_at, number))
        # Question and answer have a row each, so that either can be added without the other.
        for rowid, text in (
            (number * 2, self._question),
            (number * 2 + 1, self._answer),
        ):
            if text is not None:
                connection.execute(_WORDS, (rowid, sound_text(text)))


def index_events(
    connection: sqlite3.Connection, query_id: str, events: Iterable[Event]
) -> None:
    """Adds the searchable content of these events of a query to the index."""
    findable = Findable()
    for event in events:
        findable.add(event)
    findable.write(connection, query_id)


class SearchIndex:
    """Collects the searchable content of running queries, and adds it to the index when several have ended.

    Added alone, a query costs thirteen pages of the log, and several together cost little more. The store notes ended
    queries that the index lacks, so that the next search, in any process, adds them first.
    """

    def __init__(self) -> None:
        self._gathered: dict[str, Findable] = {}
        self._over: set[str] = set()

    @property
    def is_behind(self) -> bool:
        """True if the index lacks ended queries of this process."""
        return bool(self._over)

    def begin(self, query_id: str) -> None:
        """Begins to collect the searchable content of a query."""
        if len(self._gathered) >= _MOST_QUERIES:
            self._gathered.pop(next(iter(self._gathered)))
        self._gathered[query_id] = Findable()
        self._over.discard(query_id)

    def note(
        self, connection: sqlite3.Connection, query_id: str, recorded: Recorded[Event]
    ) -> None:
        """Collects a stored event's content; the end of a query may add several queries to the index."""
        if isinstance(recorded.event, QueryClosed):
            connection.execute(_OWE, (query_id,))
            self._over.add(query_id)
            if len(self._over) >= _TOGETHER:
                self.catch_up(connection)
        elif query_id in self._gathered:
            self._gathered[query_id].add(recorded.event)

    def catch_up(self, connection: sqlite3.Connection) -> bool:
        """Adds some of the ended queries to the index; returns True if none is left."""
        owed = connection.execute(_OWED, (_TOGETHER,)).fetchall()
        reads = 0
        for number, query_id in owed:
            # Another process collected it, or this one had no room.
            if query_id not in self._over or query_id not in self._gathered:
                reads += 1
            if reads > _READ_TOGETHER:
                return False
            self._add(connection, query_id)
            connection.execute(_PAID, (number,))
        if len(owed) == _TOGETHER:
            return False
        # Other processes have added or deleted the remaining ones.
        for query_id in tuple(self._over):
            self.forget(query_id)
        return True

    def forget(self, query_id: str) -> None:
        """Drops a query that the index holds, or that another process continues."""
        self._gathered.pop(query_id, None)
        self._over.discard(query_id)

    def _add(self, connection: sqlite3.Connection, query_id: str) -> None:
        findable = self._gathered.get(query_id)
        if findable is not None and query_id in self._over:
            findable.write(connection, query_id)
        else:
            index_events(connection, query_id, self._stored(connection, query_id))
        self.forget(query_id)

    def _stored(self, connection: sqlite3.Connection, query_id: str) -> Iterable[Event]:
        try:
            return [
                recorded.event
                # Events of kinds that this program does not know add nothing to the index.
                for recorded in read_trace(connection, query_id)
            ]
        except DecodeError as error:
            _log.warning("trace_not_searchable", query_id=query_id, error=str(error))
            return ()


def needs_index(where: TraceFilter | None) -> bool:
    """Returns True for a listing by words or marks, which only the index holds."""
    if where is None:
        return False
    wishes = (where.text, where.course, where.tool, where.indicator)
    return any(wish is not None for wish in wishes)


def is_behind(connection: sqlite3.Connection) -> bool:
    """Returns True if the index lacks ended queries."""
    return connection.execute("SELECT 1 FROM unindexed LIMIT 1").fetchone() is not None


def index_everything(connection: sqlite3.Connection) -> None:
    """Indexes all stored queries, all or nothing; skips events that cannot be read."""
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
