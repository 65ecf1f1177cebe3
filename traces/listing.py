"""The listing of queries: a line each, updated as events are written, and filtered when read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from antiphon.traces.answer_lines import note_answer
from antiphon.traces.codec import sound_text
from antiphon.traces.conditions import Conditions
from antiphon.traces.conversations import NO_CONVERSATION, open_conversation
from antiphon.traces.feedback import feedback_in
from antiphon.traces.ownership import IMPORTED, Origin
from antiphon.traces.visibility import VISIBLE
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.ports import TraceFilter, TraceSummary

_INSERT_QUERY = """
    INSERT OR IGNORE INTO queries (query_id, session_id, query, started_at, owner, parent, follows, tenant, number)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_NOTED = (QueryReceived, QueryResumed, ResponseAssembled, QueryClosed)
# Until the query ends, `duration_ms` holds the time in which no process worked on it, as a negative number.
_NOTE_AWAY = "UPDATE queries SET duration_ms = coalesce(duration_ms, 0) - ? * 1000 WHERE query_id = ?"
_NOTE_END = """
    UPDATE queries SET status = ?,
        duration_ms = max((? - started_at) * 1000 + min(coalesce(duration_ms, 0), 0), 0.0)
    WHERE query_id = ?
"""

_LINE = """
    SELECT queries.query_id, session_id, query, status, queries.started_at,
        CASE WHEN status != 'open' THEN duration_ms END, confidence, reasoner, parent, answer, rounds,
        input_tokens, output_tokens, cost_usd, feedback, feedback_note, feedback_at,
        (SELECT max(seq) FROM events WHERE events.query_id = queries.query_id)
"""
_AFTER = {
    "queries": "(queries.started_at, queries.number) < (SELECT started_at, number FROM queries WHERE query_id = ?)",
    "marks": "(marks.started_at, marks.number) < (SELECT started_at, number FROM queries WHERE query_id = ?)",
}
_AMONG = "queries.query_id IN (SELECT value FROM json_each(?))"


def note_query(
    connection: sqlite3.Connection,
    query_id: str,
    recorded: Recorded[Event],
    origin: Origin,
    number: int | None = None,
) -> None:
    """Updates the query's line with a stored event.

    Args:
        number: The line's place among all, in the order of beginning; None: the next one.
    """
    # Most events change nothing in the line, so one check spares them three pattern matches.
    if type(recorded.event) not in _NOTED:
        return
    match recorded.event:
        case QueryReceived(session_id=session_id) as first:
            # A file may name any conversation, and its texts must not get into the next question of that one.
            if origin.owner == IMPORTED:
                session_id = NO_CONVERSATION
            elif session_id != NO_CONVERSATION:
                open_conversation(connection, session_id, origin.label)
            line = (
                query_id,
                session_id,
                sound_text(first.query),
                recorded.at,
                origin.owner,
                first.parent,
                first.follows,
                origin.label,
                number,
            )
            connection.execute(_INSERT_QUERY, line)
        case QueryResumed(away_s=away_s):
            connection.execute(_NOTE_AWAY, (away_s, query_id))
        case ResponseAssembled():
            note_answer(connection, query_id, recorded.seq, recorded.event)
        case QueryClosed(status=status):
            connection.execute(_NOTE_END, (status, recorded.at, query_id))


def read_listing(
    connection: sqlite3.Connection,
    limit: int,
    before: float | None,
    after_id: str | None,
    where: TraceFilter,
    label: str | None,
    among: Sequence[str] | None = None,
) -> list[TraceSummary]:
    """Reads one line a query with a label, or any label (None), newest first; of some traces, or of all (None)."""
    lines: list[TraceSummary] = []
    wanted = Conditions(where, label)
    if before is not None:
        wanted.add("queries.started_at < ?", before)
    if after_id is not None:
        wanted.add(_AFTER[wanted.leading], after_id)
    if among is not None:
        wanted.add(_AMONG, json.dumps(list(among)))
    order = f"{wanted.leading}.started_at DESC, {wanted.leading}.number DESC"
    statement = f"{_LINE} {wanted.sql} ORDER BY {order} LIMIT ?"
    for row in connection.execute(statement, [*wanted.values, limit]):
        (
            query_id,
            session_id,
            query,
            status,
            started_at,
            duration_ms,
            confidence,
            reasoner,
            parent,
            answer,
            rounds,
            input_tokens,
            output_tokens,
            cost_usd,
            *feedback,
            events,
        ) = row
        line = TraceSummary(
            query_id=query_id,
            session_id=session_id,
            query=query,
            status=status,
            started_at=started_at,
            duration_ms=duration_ms,
            events=events,
            confidence=confidence,
            reasoner=reasoner,
            parent=parent,
            answer=answer,
            rounds=rounds,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost_usd=cost_usd,
            feedback=feedback_in(feedback),
        )
        lines.append(line)
    return lines


def read_ids(
    connection: sqlite3.Connection, beginning: str, limit: int, label: str | None
) -> list[str]:
    """Reads the ids with this beginning and a label, or any label (None), by one range of the index."""
    # U+10FFFF is the last character of all, so the range holds every id with this beginning.
    rows = connection.execute(
        f"SELECT query_id FROM queries WHERE query_id >= :first AND query_id < :end AND {VISIBLE} "  # noqa: S608 - a constant
        "ORDER BY query_id LIMIT :limit",
        {
            "first": beginning,
            "end": f"{beginning}\U0010ffff",
            "label": label,
            "limit": limit,
        },
    )
    return [str(row[0]) for row in rows]
