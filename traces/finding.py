"""What traces are found by: marks (course, tool, indicator) and words, and the query that a filter becomes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from antiphon.traces.codec import sound_text
from antiphon.vocabulary.events import Event, QueryReceived, ResponseAssembled, ToolRequested, ToolSucceeded
from antiphon.vocabulary.ports import TraceFilter

WORTH_FINDING = frozenset({QueryReceived, ToolRequested, ToolSucceeded, ResponseAssembled})
"""The events that say what a query can be found by."""

_LINE_OF = "SELECT number, started_at FROM queries WHERE query_id = ?"
_MARK = "INSERT OR IGNORE INTO marks (kind, value, started_at, number) VALUES (?, ?, ?, ?)"
_WORDS = "INSERT OR REPLACE INTO words (rowid, text) VALUES (?, ?)"
_MARKED = ("indicator", "course", "tool")
_LINE = """
    SELECT queries.query_id, session_id, query, status, queries.started_at, duration_ms, confidence, reasoner,
        (SELECT max(seq) FROM events WHERE events.query_id = queries.query_id)
"""
_BY_MARK = " FROM marks CROSS JOIN queries ON queries.number = marks.number "
_BY_TIME = " FROM queries "


def note_finding(connection: sqlite3.Connection, query_id: str, events: Iterable[Event]) -> None:
    """Adds what these events of a query say that it can be found by."""
    line = connection.execute(_LINE_OF, (query_id,)).fetchone()
    if line is None:
        return  # a trace without a beginning stands in no list
    number, started_at = line
    marks: set[tuple[str, str]] = set()
    words: dict[int, str] = {}
    for event in events:
        match event:
            case QueryReceived(query=query):
                words[number * 2] = query
            case ToolRequested(call=call):
                marks.add(("tool", call.name))
            case ToolSucceeded(passages=passages):
                marks.update(("course", passage.course) for passage in passages if passage.course)
            case ResponseAssembled(answer=answer, indicators=indicators):
                marks.update(("indicator", indicator.kind) for indicator in indicators)
                words[number * 2 + 1] = answer
    rows = [(kind, sound_text(value), started_at, number) for kind, value in sorted(marks)]
    connection.executemany(_MARK, rows)
    connection.executemany(_WORDS, [(rowid, sound_text(text)) for rowid, text in words.items()])


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
        wanted = _words(where.text)
        found = _HAS_WORDS if after_id is None else _HAS_WORDS_BEFORE
        under_way = " AND ".join([_OPEN, *[_IN_QUESTION] * len(wanted)]) if wanted else "0"
        clauses.append(f"({found} OR {under_way})")
        values += [_quoted(wanted)] if after_id is None else [_quoted(wanted), after_id]
        values += wanted
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
_OPEN = "status = 'open'"
_IN_QUESTION = "instr(lower(query), lower(?)) > 0"
"""What is not over is found by its question alone: what else there is to find is added when it is over."""

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


def _words(text: str) -> list[str]:
    return sound_text(text.replace("\x00", " ")).split()


def _quoted(words: Iterable[str]) -> str:
    """All the words, each quoted: nothing in them is FTS5's own language."""
    return " ".join('"' + word.replace('"', '""') + '"' for word in words) or '""'
