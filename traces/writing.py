"""What is written to the store, as rows: events, their texts, and the line of the listing that follows from them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from antiphon.traces.codec import sound_text
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded, ResponseAssembled

EventRow = tuple[str, int, int, float, str, int, bytes]

_NOTED = frozenset({QueryReceived, ResponseAssembled, QueryClosed})
_INSERT_EVENT = "INSERT INTO events (query_id, seq, cause, at, kind, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_TEXT = "INSERT OR IGNORE INTO kept (key, text) VALUES (?, ?)"
_INSERT_QUERY = """
    INSERT OR IGNORE INTO queries (query_id, session_id, query, started_at, owner, parent) VALUES (?, ?, ?, ?, ?, ?)
"""
_NOTE_ANSWER = "UPDATE queries SET confidence = ?, reasoner = ?, answer_seq = ? WHERE query_id = ?"
_NOTE_END = "UPDATE queries SET status = ?, duration_ms = (? - started_at) * 1000 WHERE query_id = ?"
_OPEN_CONVERSATION = "INSERT OR IGNORE INTO conversations (session_id) VALUES (?)"
_CLEAR_CONVERSATION = """
    UPDATE conversations SET cleared_after =
        coalesce((SELECT max(number) FROM queries WHERE queries.session_id = conversations.session_id), 0)
    WHERE session_id = ?
"""


def event_row(query_id: str, recorded: Recorded[Event], body: bytes) -> EventRow:
    """One row of `events`."""
    kind = str(recorded.event.__struct_config__.tag)
    return (query_id, recorded.seq, recorded.cause, recorded.at, kind, recorded.version, body)


def write_texts(connection: sqlite3.Connection, texts: dict[str, str]) -> None:
    """Adds the long texts that events refer to."""
    if texts:
        connection.executemany(_INSERT_TEXT, [(bytes.fromhex(key), text) for key, text in texts.items()])


def write_events(connection: sqlite3.Connection, rows: Sequence[EventRow]) -> None:
    """Adds events."""
    connection.executemany(_INSERT_EVENT, rows)


def note_query(connection: sqlite3.Connection, query_id: str, recorded: Recorded[Event], owner: str) -> None:
    """Keeps the listing's line of the query up to date."""
    if type(recorded.event) not in _NOTED:
        return
    match recorded.event:
        case QueryReceived(query=query, session_id=session_id, parent=parent):
            line = (query_id, session_id, sound_text(query), recorded.at, owner, parent)
            connection.execute(_INSERT_QUERY, line)
            open_conversation(connection, session_id)
        case ResponseAssembled(confidence=confidence, reasoner=reasoner):
            connection.execute(_NOTE_ANSWER, (confidence, reasoner, recorded.seq, query_id))
        case QueryClosed(status=status):
            connection.execute(_NOTE_END, (status, recorded.at, query_id))


def open_conversation(connection: sqlite3.Connection, session_id: str) -> None:
    """Makes the conversation known."""
    connection.execute(_OPEN_CONVERSATION, (session_id,))


def set_owner(connection: sqlite3.Connection, query_id: str, owner: str) -> None:
    """Notes who works on a query."""
    connection.execute("UPDATE queries SET owner = ? WHERE query_id = ?", (owner, query_id))


def clear_conversation(connection: sqlite3.Connection, session_id: str) -> bool:
    """Passes over all queries so far; False where the conversation is not known."""
    return connection.execute(_CLEAR_CONVERSATION, (session_id,)).rowcount > 0
