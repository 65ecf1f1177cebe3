"""Conversations: the questions and answers in each since it was cleared."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from antiphon.traces.conversation_path import read_path
from antiphon.traces.event_log import answer_in, unpacker_of
from antiphon.traces.event_rows import EventRow
from antiphon.traces.visibility import VISIBLE, unknown_conversation
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import AnsweredQuestion
from antiphon.vocabulary.values import Exchange

NO_CONVERSATION = ""
"""The conversation of imported traces, and of questions whose callers keep their own: nobody can ask in it."""

# Forks do not count: nobody asked them in the conversation.
_ANSWERS = f"""
    SELECT query, answer_seq, events.query_id, seq, cause, at, kind, version, body
    FROM queries JOIN events ON events.query_id = queries.query_id AND events.seq = (
        SELECT min(seq) FROM events AS others WHERE others.query_id = queries.query_id AND others.seq >= answer_seq)
    WHERE session_id = :session_id AND number > :after AND status IN ('answered', 'partial') AND parent IS NULL
        AND {VISIBLE} AND queries.query_id IN (SELECT value FROM json_each(:among))
    ORDER BY number DESC LIMIT :limit
"""  # noqa: S608 - a constant
_CLEAR = """
    UPDATE conversations SET cleared_after =
        coalesce((SELECT max(number) FROM queries WHERE queries.session_id = conversations.session_id), 0)
    WHERE session_id = ?
"""
_FORGET_EMPTY = """
    DELETE FROM conversations WHERE session_id IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM queries WHERE queries.session_id = conversations.session_id)
"""


def open_conversation(
    connection: sqlite3.Connection, session_id: str, label: str
) -> None:
    """Registers the conversation as that of the caller who opened it."""
    connection.execute(
        "INSERT OR IGNORE INTO conversations (session_id, tenant) VALUES (?, ?)",
        (session_id, label),
    )


def clear_conversation(connection: sqlite3.Connection, session_id: str) -> None:
    """Makes the conversation skip all queries so far.

    Raises:
        NotFoundError: No such conversation.
    """
    if connection.execute(_CLEAR, (session_id,)).rowcount == 0:
        raise unknown_conversation(session_id)


def clear_conversation_at(
    connection: sqlite3.Connection, session_id: str, number: int
) -> None:
    """Makes the conversation skip all queries before this place."""
    connection.execute(
        "UPDATE conversations SET cleared_after = ? WHERE session_id = ?",
        (number, session_id),
    )


def forget_conversation(connection: sqlite3.Connection, session_id: str) -> None:
    """Deletes a conversation's own row."""
    connection.execute("DELETE FROM conversations WHERE session_id = ?", (session_id,))


def conversations_of(
    connection: sqlite3.Connection, query_ids: Sequence[str]
) -> list[str]:
    """Reads the conversations that traces belong to, without repeats."""
    rows = connection.execute(
        "SELECT DISTINCT session_id FROM queries WHERE query_id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(query_ids)),),
    )
    return [row[0] for row in rows]


def forget_empty_conversations(
    connection: sqlite3.Connection, session_ids: Sequence[str]
) -> None:
    """Deletes the rows of those conversations that have no trace left."""
    connection.execute(_FORGET_EMPTY, (json.dumps(list(session_ids)),))


def read_exchanges(
    connection: sqlite3.Connection,
    session_id: str,
    limit: int,
    follows: str | None,
    label: str | None,
) -> list[Exchange]:
    """Reads the conversation's last answered questions; takes and raises what `Conversations.exchanges` does."""
    among: list[str] = []
    if follows != "":
        for place in read_path(connection, session_id, follows, label):
            among.append(place.query_id)
            # Later questions belong to another history.
            if place.query_id == follows:
                break
    answered = read_answered(connection, session_id, limit, label, among)
    return [Exchange(question=each.question, answer=each.answer) for each in answered]


def read_answered(
    connection: sqlite3.Connection,
    session_id: str,
    limit: int,
    label: str | None,
    among: Sequence[str],
) -> list[AnsweredQuestion]:
    """Reads the last of these questions that were answered since the conversation was cleared, oldest first.

    Raises:
        NotFoundError: No such conversation.
    """
    cleared_after = connection.execute(
        "SELECT cleared_after FROM conversations WHERE session_id = ?", (session_id,)
    ).fetchone()
    if cleared_after is None:
        raise unknown_conversation(session_id)
    unpacker = unpacker_of(connection)
    found: list[AnsweredQuestion] = []
    # Another tenant's query may name the conversation, if the store could not be read in time to refuse it.
    wanted = {
        "session_id": session_id,
        "after": cleared_after[0],
        "label": label,
        "limit": limit,
        "among": json.dumps(list(among)),
    }
    for query, answer_seq, *columns in connection.execute(_ANSWERS, wanted):
        row = EventRow(*columns)
        event = answer_in(row, answer_seq, unpacker)
        answer = "" if event is None else event.answer
        found.append(
            AnsweredQuestion(query_id=row.query_id, question=query, answer=answer)
        )
    # Newest first, so that the limit keeps the newest.
    found.reverse()
    return found


def ids_of_conversation(
    connection: sqlite3.Connection, session_id: str, label: str | None
) -> list[str]:
    """Reads the ids of a conversation's traces, restricted to those with a label unless it is None.

    Raises:
        NotFoundError: No such conversation.
    """
    rows = connection.execute(
        f"SELECT query_id FROM queries WHERE session_id = :session_id AND {VISIBLE}",  # noqa: S608 - a constant
        {"session_id": session_id, "label": label},
    )
    ids = [row[0] for row in rows]
    known = connection.execute(
        "SELECT 1 FROM conversations WHERE session_id = ?", (session_id,)
    ).fetchone()
    if session_id == NO_CONVERSATION or (not ids and known is None):
        raise NotFoundError(f"there is no conversation {session_id!r}")
    return ids
