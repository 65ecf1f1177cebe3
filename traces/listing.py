"""Queries as they are listed: a line each, kept up to date as events are written, and filtered when it is read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from antiphon.traces.answer_lines import note_answer
from antiphon.traces.codec import sound_text
from antiphon.traces.conversations import NO_CONVERSATION, open_conversation
from antiphon.traces.feedback import feedback_in
from antiphon.traces.ownership import IMPORTED, Origin
from antiphon.traces.visibility import VISIBLE
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.ports import TraceFilter, TraceSummary

_INSERT_QUERY = """
    INSERT OR IGNORE INTO queries (query_id, session_id, query, started_at, owner, parent, tenant, number)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_NOTED = (QueryReceived, ResponseAssembled, QueryClosed)
_NOTE_END = "UPDATE queries SET status = ?, duration_ms = (? - started_at) * 1000 WHERE query_id = ?"

_LINE = """
    SELECT queries.query_id, session_id, query, status, queries.started_at, duration_ms, confidence, reasoner,
        parent, answer, rounds, input_tokens, output_tokens, cost_usd, feedback, feedback_note, feedback_at,
        (SELECT max(seq) FROM events WHERE events.query_id = queries.query_id)
"""
_SOURCE = {
    "queries": "queries",
    "marks": "marks CROSS JOIN queries ON queries.number = marks.number",
}
_AFTER = {
    "queries": "(queries.started_at, queries.number) < (SELECT started_at, number FROM queries WHERE query_id = ?)",
    "marks": "(marks.started_at, marks.number) < (SELECT started_at, number FROM queries WHERE query_id = ?)",
}
_HAS_ONE_MORE_MARK = """EXISTS (
    SELECT 1 FROM marks AS too WHERE too.kind = ? AND too.value = ?
        AND too.started_at = queries.started_at AND too.number = queries.number
)"""

# All that match, for only the other conditions can say which of them are wanted: 0.2 s in a thread where a word stands
# in each of 100,000 traces, and 2 ms for a rarer one.
_HAS_FEEDBACK = {"any": "feedback IS NOT NULL", "none": "feedback IS NULL"}
_HAS_WORDS = "queries.number IN (SELECT rowid / 2 FROM words WHERE words MATCH ?)"
_IN_QUESTION = "instr(lower(query), lower(?)) > 0"


def note_query(
    connection: sqlite3.Connection,
    query_id: str,
    recorded: Recorded[Event],
    origin: Origin,
    number: int | None = None,
) -> None:
    """Keeps the query's line up to date with an event that was written.

    Args:
        number: The line's place among all, which is that of their beginning; None: the next one.
    """
    # Most events change nothing of it, and none is worth three comparisons of a pattern.
    if type(recorded.event) not in _NOTED:
        return
    match recorded.event:
        case QueryReceived(query=query, session_id=session_id, parent=parent):
            # A file may name any conversation: its texts must not get into the next question's.
            if origin.owner == IMPORTED:
                session_id = NO_CONVERSATION
            elif session_id != NO_CONVERSATION:
                open_conversation(connection, session_id, origin.label)
            words = sound_text(query)
            line = (query_id, session_id, words, recorded.at, origin.owner, parent)
            connection.execute(_INSERT_QUERY, (*line, origin.label, number))
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
) -> list[TraceSummary]:
    """Reads one line a query that has a label, or has any (None), the newest first."""
    lines: list[TraceSummary] = []
    statement = _Listing(before, after_id, where, label)
    for row in connection.execute(statement.sql, [*statement.values, limit]):
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
    """Reads the ids that begin so and have a label, or any (None), by one range of the index."""
    # U+10FFFF is the last character there is, so the range holds every id that begins so.
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


class _Listing:
    """The listing's SQL and its parameters; every piece of the SQL is a constant of this file."""

    def __init__(
        self,
        before: float | None,
        after_id: str | None,
        where: TraceFilter,
        label: str | None,
    ) -> None:
        self._clauses: list[str] = []
        self.values: list[object] = []
        # With a mark the listing goes along the index of marks, which holds the time too: the newest with a mark are
        # read off it in order. Whichever table leads is also the one that the rows are ordered by.
        self._leading = "queries"
        self._add_marks(where)
        self._add_label(label)
        self._add_plain(before, where)
        if after_id is not None:
            self._add(_AFTER[self._leading], after_id)
        if where.text is not None:
            self._add_text(where.text)

    @property
    def sql(self) -> str:
        """The whole statement, which takes the limit after `values`."""
        source = _SOURCE[self._leading]
        conditions = " AND ".join(self._clauses) or "1"
        order = f"{self._leading}.started_at DESC, {self._leading}.number DESC"
        return f"{_LINE} FROM {source} WHERE {conditions} ORDER BY {order} LIMIT ?"

    def _add(self, clause: str, *values: object) -> None:
        self._clauses.append(clause)
        self.values += values

    def _add_marks(self, where: TraceFilter) -> None:
        for kind, value in (
            ("indicator", where.indicator),
            ("course", where.course),
            ("tool", where.tool),
        ):
            if value is None:
                continue
            if self._leading == "queries":
                self._leading = "marks"
                self._add("marks.kind = ? AND marks.value = ?", kind, value)
            else:
                self._add(_HAS_ONE_MORE_MARK, kind, value)

    def _add_label(self, label: str | None) -> None:
        if label is None:
            return
        self._add("tenant = ?", label)
        # Says no more than the line above does, but SQLite takes the tenants' index only where it stands there.
        if label != LOCAL_TENANT:
            self._add(f"tenant <> '{LOCAL_TENANT}'")

    def _add_plain(self, before: float | None, where: TraceFilter) -> None:
        wishes: tuple[tuple[str, object], ...] = (
            ("queries.started_at < ?", before),
            ("queries.started_at >= ?", where.since),
            ("queries.started_at < ?", where.until),
            ("status = ?", where.status),
            ("confidence = ?", where.confidence),
            ("session_id = ?", where.session_id),
            ("parent = ?", where.parent),
        )
        for clause, value in wishes:
            if value is not None:
                self._add(clause, value)
        if where.feedback in _HAS_FEEDBACK:
            self._add(_HAS_FEEDBACK[where.feedback])
        elif where.feedback is not None:
            self._add("feedback = ?", where.feedback)

    def _add_text(self, text: str) -> None:
        words = sound_text(text.replace("\x00", " ")).split()
        # A query that is not over is found by its question alone: what else there is is indexed when it is over.
        clauses = ["status = 'open'", *[_IN_QUESTION] * len(words)]
        in_open_question = " AND ".join(clauses) if words else "0"
        self._add(f"({_HAS_WORDS} OR {in_open_question})", _quoted(words), *words)


def _quoted(words: Sequence[str]) -> str:
    """Returns all the words, each quoted: nothing in them is FTS5's own language."""
    if not words:
        return '""'  # FTS5 refuses an empty query
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    return " ".join(quoted)
