"""From an older format of the store to this one: what was recorded is kept, and what is new is worked out from it."""

from __future__ import annotations

import sqlite3

import structlog

from antiphon.traces.finding import note_finding
from antiphon.traces.packing import Unpacker
from antiphon.vocabulary.errors import DecodeError

_log = structlog.get_logger(__name__)

_WORTH_FINDING = """
    SELECT query_id, seq, cause, at, version, body FROM events
    WHERE kind IN ('query_received', 'tool_requested', 'tool_succeeded', 'response_assembled')
        AND query_id IN (SELECT query_id FROM queries)
"""


def fill_finding(connection: sqlite3.Connection) -> None:
    """Adds what all stored queries are found by, all or nothing; an event that cannot be read is left out."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute("DELETE FROM words")
        unpacker = Unpacker(lambda key: _text(connection, key))
        for query_id, *row in connection.execute(_WORTH_FINDING).fetchall():
            try:
                note_finding(connection, query_id, [unpacker.unpack(query_id, *row).event])
            except DecodeError as error:
                _log.warning("trace_event_not_searchable", error=str(error))
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _text(connection: sqlite3.Connection, key: str) -> str | None:
    row = connection.execute("SELECT text FROM kept WHERE key = ?", (bytes.fromhex(key),)).fetchone()
    return None if row is None else str(row[0])
