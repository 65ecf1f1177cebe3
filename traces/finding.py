"""What traces are found by: marks (course, tool, indicator) and words, and the query that a filter becomes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from traces.codec import sound_text
from vocabulary.events import Event, QueryReceived, ResponseAssembled, ToolRequested, ToolSucceeded
from vocabulary.ports import TraceFilter

_MARK = """
    INSERT OR IGNORE INTO marks (kind, value, started_at, number)
    SELECT ?, ?, started_at, number FROM queries WHERE query_id = ?
"""
_WORDS = "INSERT OR REPLACE INTO words (rowid, text) SELECT number * 2 + ?, ? FROM queries WHERE query_id = ?"
_MARKED = ("indicator", "course", "tool")
_LINE = """
    SELECT queries.query_id, session_id, query, status, queries.started_at, duration_ms, confidence, reasoner,
        (SELECT max(seq) FROM events WHERE events.query_id = queries.query_id)
"""
_BY_MARK = " FROM marks CROSS JOIN queries ON queries.number = marks.number "
_BY_TIME = " FROM queries "


def note_finding(connection: sqlite3.Connection, query_id: str, event: Event) -> None:
    """Adds what the query can be found by from here on."""
    match event:
        case QueryReceived(query=query):
            _add_words(connection, query_id, 0, query)
        case ToolRequested(call=call):
            _mark(connection, query_id, "tool", (call.name,))
        case ToolSucceeded(passages=passages):
            _mark(connection, query_id, "course", {passage.course for passage in passages if passage.course})
        case ResponseAssembled(answer=answer, indicators=indicators):
            _mark(connection, query_id, "indicator", {indicator.kind for indicator in indicators})
            _add_words(connection, query_id, 1, answer)


def find(limit: int, before: float | None, after_id: str | None, where: TraceFilter) -> tuple[str, list[object]]:
    """The listing's SQL and its parameters; every piece of the SQL is a constant of this file."""
    marks = [(kind, value) for kind in _MARKED if (value := getattr(where, kind)) is not None]
    clauses: list[str] = []
    values: list[object] = []
    order = "queries"
    for place, mark in enumerate(marks):
        values += mark
        clauses.append(_MARK_LEADS if place == 0 else _MARK_TOO)
        order = "marks"
    for clause, value in _plain_clauses(before, where):
        clauses.append(clause)
        values.append(value)
    if after_id is not None:
        clauses.append(_AFTER[order])
        values.append(after_id)
    if where.text is not None:
        # The newest texts only: words that stand in every trace would otherwise be counted in all of them.
        clauses.append(_HAS_WORDS if after_id is None else _HAS_WORDS_BEFORE)
        values += [_quoted(where.text)] if after_id is None else [_quoted(where.text), after_id]
    conditions = " AND ".join(clauses) or "1"
    source = _BY_MARK if marks else _BY_TIME
    return f"{_LINE}{source} WHERE {conditions} {_NEWEST[order]} LIMIT ?", [*values, limit]


_MARK_LEADS = "marks.kind = ? AND marks.value = ?"
_MARK_TOO = """EXISTS (
    SELECT 1 FROM marks AS too WHERE too.kind = ? AND too.value = ?
        AND too.started_at = queries.started_at AND too.number = queries.number
)"""
_HAS_WORDS = "queries.number IN (SELECT rowid / 2 FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT 2000)"
_HAS_WORDS_BEFORE = """queries.number IN (
    SELECT rowid / 2 FROM words WHERE words MATCH ?
        AND rowid < (SELECT number * 2 + 2 FROM queries WHERE query_id = ?) ORDER BY rowid DESC LIMIT 2000
)"""
_AFTER = {
    "queries": "(queries.started_at, queries.number) < (SELECT started_at, number FROM queries WHERE query_id = ?)",
    "marks": "(marks.started_at, marks.number) < (SELECT started_at, number FROM queries WHERE query_id = ?)",
}
_NEWEST = {name: f"ORDER BY {name}.started_at DESC, {name}.number DESC" for name in ("queries", "marks")}


def _plain_clauses(before: float | None, where: TraceFilter) -> Iterable[tuple[str, object]]:
    wishes: tuple[tuple[str, object], ...] = (
        ("queries.started_at < ?", before),
        ("queries.started_at >= ?", where.since),
        ("queries.started_at < ?", where.until),
        ("status = ?", where.status),
        ("confidence = ?", where.confidence),
        ("session_id = ?", where.session_id),
        ("parent = ?", where.parent),
    )
    return [wish for wish in wishes if wish[1] is not None]


def _mark(connection: sqlite3.Connection, query_id: str, kind: str, values: Iterable[str]) -> None:
    connection.executemany(_MARK, [(kind, sound_text(value), query_id) for value in sorted(values)])


def _add_words(connection: sqlite3.Connection, query_id: str, which: int, text: str) -> None:
    connection.execute(_WORDS, (which, sound_text(text), query_id))


def _quoted(text: str) -> str:
    """All words of `text`, each quoted: nothing in it is FTS5's own language."""
    words = ['"' + word.replace('"', '""') + '"' for word in sound_text(text.replace("\x00", " ")).split()]
    return " ".join(words) or '""'
