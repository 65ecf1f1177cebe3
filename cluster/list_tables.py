"""The tables of a node's own list of traces: how far it has come, and what each message adds to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from antiphon.cluster.messages import tenant_of
from antiphon.cluster.stream_reading import StoredMessage
from antiphon.cluster.streams import Naming, text_of
from antiphon.traces import (
    TracePart,
    clear_conversation_at,
    forget_conversation,
    index_part,
    open_conversation,
    remove_everything,
    remove_trace,
)

_TABLES = """
CREATE TABLE IF NOT EXISTS progress (
    number INTEGER PRIMARY KEY CHECK (number = 1), incarnation TEXT NOT NULL, seq INTEGER NOT NULL,
    messages INTEGER NOT NULL, missing INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS subjects (
    subject TEXT NOT NULL PRIMARY KEY, messages INTEGER NOT NULL, stored_at REAL NOT NULL
) WITHOUT ROWID;
"""
_ADD_TO_SUBJECT = """
    INSERT INTO subjects VALUES (?, 1, ?)
        ON CONFLICT DO UPDATE SET messages = messages + 1, stored_at = excluded.stored_at
"""
_SET_PROGRESS = "INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?)"
_FORGET_SUBJECT = "DELETE FROM subjects WHERE subject = ? RETURNING messages"
_EMPTY_CONVERSATIONS = """
    SELECT session_id FROM conversations
        WHERE NOT EXISTS (SELECT 1 FROM queries WHERE queries.session_id = conversations.session_id)
"""

CONVERSATION = "Antiphon-Conversation"
"""The header that says what became of a conversation: `opened` or `cleared`."""


class Progress(NamedTuple):
    """How far the file has come.

    Attributes:
        seq: The place in the stream up to which everything was added.
        messages: Those that were added and not removed.
        missing: Messages by which the file and the stream were found to differ when they were last compared.
    """

    incarnation: str
    seq: int = 0
    messages: int = 0
    missing: int = 0


class Step(NamedTuple):
    """A message as it is added.

    Attributes:
        part: The events that it holds; None for a message of a conversation, or one that is none of ours.
    """

    message: StoredMessage
    part: TracePart | None


def make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)


def read_progress(connection: sqlite3.Connection) -> Progress:
    row = connection.execute(
        "SELECT incarnation, seq, messages, missing FROM progress"
    ).fetchone()
    if row is None:
        return Progress("")
    return Progress(*row)


def begin_anew(connection: sqlite3.Connection) -> None:
    remove_everything(connection)
    connection.execute("DELETE FROM subjects")
    connection.execute("DELETE FROM progress")


def add_steps(
    connection: sqlite3.Connection, steps: Sequence[Step], reached: Progress
) -> Progress:
    """Adds messages; returns how far the file has come."""
    held = read_progress(connection)
    if held.incarnation != reached.incarnation:
        held = Progress(reached.incarnation)
    # Another process of this machine may have added some of them meanwhile.
    new = [step for step in steps if step.message.seq > held.seq]
    connection.execute(_SET_PROGRESS, held._replace(seq=max(held.seq, reached.seq)))
    for message, part in new:
        if part is None:
            _note_conversation(connection, message)
        else:
            if part.is_first:
                _forget_subject(connection, message.subject)
            index_part(connection, part)
        connection.execute(_ADD_TO_SUBJECT, (message.subject, message.at))
    _count(connection, len(new))
    return read_progress(connection)


def _note_conversation(connection: sqlite3.Connection, message: StoredMessage) -> None:
    session_id = _conversation_in(message.subject)
    step = message.headers.get(CONVERSATION)
    if session_id is None or step is None:
        return
    open_conversation(connection, session_id, tenant_of(message.headers))
    if step == "cleared":
        clear_conversation_at(connection, session_id, message.seq)


def remove(connection: sqlite3.Connection, subjects: Iterable[str]) -> None:
    for subject in subjects:
        query_id = trace_in(subject)
        session_id = _conversation_in(subject)
        if query_id is not None:
            remove_trace(connection, query_id)
        elif session_id is not None:
            forget_conversation(connection, session_id)
        _forget_subject(connection, subject)


def remove_others(
    connection: sqlite3.Connection, there: Mapping[str, int], naming: Naming
) -> None:
    """Removes what the stream does not have any more."""
    rows = connection.execute("SELECT subject FROM subjects").fetchall()
    # One that has lost some of its messages stays, so that its deletion, which was broken off, can be done again.
    remove(connection, [subject for (subject,) in rows if subject not in there])
    # A conversation that was only asked in has no message of its own.
    for (session_id,) in connection.execute(_EMPTY_CONVERSATIONS).fetchall():
        if naming.conversation(session_id) not in there:
            forget_conversation(connection, session_id)


def _forget_subject(connection: sqlite3.Connection, subject: str) -> None:
    row = connection.execute(_FORGET_SUBJECT, (subject,)).fetchone()
    if row is not None:
        _count(connection, -row[0])


def _count(connection: sqlite3.Connection, messages: int) -> None:
    connection.execute("UPDATE progress SET messages = messages + ?", (messages,))


def note_missing(connection: sqlite3.Connection, messages: int) -> None:
    connection.execute("UPDATE progress SET missing = ? - messages", (messages,))


def trace_in(subject: str) -> str | None:
    return _text_in(subject, "traces")


def _conversation_in(subject: str) -> str | None:
    return _text_in(subject, "conversations")


def _text_in(subject: str, kind: str) -> str | None:
    """Returns the text that a subject of a kind ends with; None for any other subject."""
    parts = subject.rsplit(".", 2)
    if len(parts) < 2 or parts[-2] != kind:
        return None
    try:
        return text_of(parts[-1])
    except ValueError:
        return None
