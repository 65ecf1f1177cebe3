"""The tables of a node's own list of traces: its progress in the stream, and what each message adds to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from antiphon.cluster.messages import feedback_in, tenant_of
from antiphon.cluster.stream_reading import StoredMessage, StreamState
from antiphon.cluster.streams import Naming, text_of
from antiphon.traces import (
    TracePart,
    clear_conversation_at,
    forget_conversation,
    index_part,
    open_conversation,
    remove_everything,
    remove_trace,
    write_feedback,
    write_question_set,
    write_title,
)
from antiphon.vocabulary.errors import NotFoundError

_TABLES = """
CREATE TABLE IF NOT EXISTS progress (
    number INTEGER PRIMARY KEY CHECK (number = 1), incarnation TEXT NOT NULL, seq INTEGER NOT NULL,
    messages INTEGER NOT NULL, missing INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS subjects (
    subject TEXT NOT NULL PRIMARY KEY, messages INTEGER NOT NULL, last_seq INTEGER NOT NULL
) WITHOUT ROWID;
"""
_ADD_TO_SUBJECT = """
    INSERT INTO subjects VALUES (?, 1, ?)
        ON CONFLICT DO UPDATE SET messages = messages + 1, last_seq = excluded.last_seq
"""
_SET_PROGRESS = "INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?)"
_FORGET_SUBJECT = "DELETE FROM subjects WHERE subject = ? RETURNING messages"
_EMPTY_CONVERSATIONS = """
    SELECT session_id FROM conversations
        WHERE NOT EXISTS (SELECT 1 FROM queries WHERE queries.session_id = conversations.session_id)
"""

CONVERSATION = "Antiphon-Conversation"
"""The header for the step of a conversation: `opened` or `cleared`."""


class Progress(NamedTuple):
    """The progress of the file in the stream.

    Attributes:
        seq: The place in the stream up to which everything was added.
        messages: The number of messages that were added and not removed.
        missing: Messages by which file and stream differed when they were last compared.
    """

    incarnation: str
    seq: int = 0
    messages: int = 0
    missing: int = 0


class Step(NamedTuple):
    """A message to add.

    Attributes:
        part: Its events; None for a message about a conversation, for annotations, or for one that is not ours.
    """

    message: StoredMessage
    part: TracePart | None


def make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)


def begin(
    connection: sqlite3.Connection, state: StreamState, before: Progress
) -> Progress:
    """Returns the file's progress; empties the file if it is of another stream, or of one that has lost its end.

    Args:
        before: Its progress before the stream's state was read: since then other processes may have gone further.
    """
    held = read_progress(connection)
    is_same = before.incarnation == state.incarnation
    has_lost_its_end = is_same and before.seq > state.last_seq
    if held.incarnation == state.incarnation and not has_lost_its_end:
        return held
    remove_everything(connection)
    connection.execute("DELETE FROM subjects")
    begun = Progress(state.incarnation)
    connection.execute(_SET_PROGRESS, begun)
    return begun


def add_steps(
    connection: sqlite3.Connection, steps: Sequence[Step], after: Progress, reached: int
) -> Progress:
    """Adds messages; returns the file's progress.

    Args:
        after: The progress from which the messages were read on.
        reached: The place in the stream up to which these are all the messages.
    """
    held = read_progress(connection)
    # Another process has emptied the file meanwhile: the messages before these would be missing.
    if held.incarnation != after.incarnation or held.seq < after.seq:
        return held
    # Another process may have added some of them.
    new = [step for step in steps if step.message.seq > held.seq]
    connection.execute(_SET_PROGRESS, held._replace(seq=max(held.seq, reached)))
    for message, part in new:
        if part is None:
            _note_conversation(connection, message)
            _note_annotation(connection, message.subject, message.data)
        else:
            # A second beginning of a trace means that the first was deleted, and its messages no longer count.
            if part.is_first:
                _forget_subject(connection, message.subject)
            index_part(connection, part)
        connection.execute(_ADD_TO_SUBJECT, (message.subject, message.seq))
    _count(connection, len(new))
    return read_progress(connection)


def read_progress(connection: sqlite3.Connection) -> Progress:
    row = connection.execute(
        "SELECT incarnation, seq, messages, missing FROM progress"
    ).fetchone()
    if row is None:
        return Progress("")
    return Progress(*row)


def _note_conversation(connection: sqlite3.Connection, message: StoredMessage) -> None:
    session_id = _conversation_in(message.subject)
    step = message.headers.get(CONVERSATION)
    if session_id is None or step is None:
        return
    open_conversation(connection, session_id, tenant_of(message.headers))
    if step == "cleared":
        clear_conversation_at(connection, session_id, message.seq)


def _note_annotation(connection: sqlite3.Connection, subject: str, data: bytes) -> None:
    """Takes in feedback, a title or a set of questions; empty data removes it."""
    query_id = _text_in(subject, "feedback")
    session_id = _text_in(subject, "titles")
    of_set = _text_in(subject, "question_sets")
    if of_set is not None:
        tenant, _, set_id = of_set.rpartition("/")
        write_question_set(connection, set_id, tenant, data)
    # Its trace or conversation may be deleted by now.
    with suppress(NotFoundError):
        if query_id is not None:
            write_feedback(connection, query_id, feedback_in(data))
        elif session_id is not None:
            write_title(connection, session_id, data.decode(errors="replace") or None)


def remove(connection: sqlite3.Connection, subjects: Iterable[str]) -> None:
    for subject in subjects:
        query_id = trace_in(subject)
        session_id = _conversation_in(subject)
        if query_id is not None:
            remove_trace(connection, query_id)
        elif session_id is not None:
            forget_conversation(connection, session_id)
        else:
            _note_annotation(connection, subject, b"")
        _forget_subject(connection, subject)


def remove_others(
    connection: sqlite3.Connection,
    there: Mapping[str, int],
    seen_seq: int,
    naming: Naming,
) -> None:
    """Removes the subjects that are no longer in the stream.

    Args:
        there: The subjects in the stream.
        seen_seq: The stream's last place before these were read: subjects of later messages may be missing.
    """
    rows = connection.execute(
        "SELECT subject FROM subjects WHERE last_seq <= ?", (seen_seq,)
    ).fetchall()
    # A subject that has lost only some messages stays, so that its deletion, which was broken off, can be repeated.
    remove(connection, [subject for (subject,) in rows if subject not in there])
    if read_progress(connection).seq > seen_seq:
        return
    # A conversation that was never opened or cleared has no message of its own, and would not be found above.
    for (session_id,) in connection.execute(_EMPTY_CONVERSATIONS).fetchall():
        if naming.conversation(session_id) not in there:
            forget_conversation(connection, session_id)


def _forget_subject(connection: sqlite3.Connection, subject: str) -> None:
    row = connection.execute(_FORGET_SUBJECT, (subject,)).fetchone()
    if row is not None:
        _count(connection, -row[0])


def _count(connection: sqlite3.Connection, messages: int) -> None:
    connection.execute("UPDATE progress SET messages = messages + ?", (messages,))


def note_missing(connection: sqlite3.Connection, state: StreamState) -> None:
    """Notes by how many messages file and stream differ, if both are at the same place."""
    connection.execute(
        "UPDATE progress SET missing = ? - messages WHERE seq = ?",
        (state.messages, state.last_seq),
    )


def trace_in(subject: str) -> str | None:
    return _text_in(subject, "traces")


def _conversation_in(subject: str) -> str | None:
    return _text_in(subject, "conversations")


def _text_in(subject: str, kind: str) -> str | None:
    """Returns the text at the end of a subject of a kind; None for any other subject."""
    parts = subject.rsplit(".", 2)
    if len(parts) < 2 or parts[-2] != kind:
        return None
    try:
        return text_of(parts[-1])
    except ValueError:
        return None
