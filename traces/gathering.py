"""What queries will be found by, gathered while they run: adding it bit by bit would cost a commit many pages more."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import structlog

from antiphon.traces.finding import WORTH_FINDING, note_finding
from antiphon.traces.reading import read_trace
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import Event, QueryClosed, Recorded

_log = structlog.get_logger(__name__)

_MOST_QUERIES = 1000
"""Queries that are never ended here (they are gone on with elsewhere) must not pile up."""


class Gathering:
    """The events worth finding of the queries that began here."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._events: dict[str, list[Event]] = {}

    def note(self, connection: sqlite3.Connection, query_id: str, recorded: Recorded[Event]) -> None:
        """Gathers an event that was written; at a query's end, adds what the whole query is found by."""
        if recorded.seq == 1:
            self._begin(query_id)
        kind = type(recorded.event)
        if kind in WORTH_FINDING and query_id in self._events:
            self._events[query_id].append(recorded.event)
        elif kind is QueryClosed:
            note_finding(connection, query_id, self._gathered(connection, query_id))

    def forget(self, query_id: str) -> None:
        """The query is over, and that is stored."""
        self._events.pop(query_id, None)

    def _begin(self, query_id: str) -> None:
        if len(self._events) >= _MOST_QUERIES:
            self._events.pop(next(iter(self._events)))
        self._events[query_id] = []

    def _gathered(self, connection: sqlite3.Connection, query_id: str) -> Iterable[Event]:
        if query_id in self._events:
            return self._events[query_id]
        try:
            return [said.event for said in read_trace(connection, query_id, catalog=self._catalog)]
        except DecodeError as error:
            _log.warning("trace_not_searchable", query_id=query_id, error=str(error))
            return ()
