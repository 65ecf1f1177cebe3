"""The conditions of `TraceFilter` as SQL over the lines of the queries."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.traces.codec import sound_text
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.ports import TraceFilter

_SOURCE = {
    "queries": "queries",
    "marks": "marks CROSS JOIN queries ON queries.number = marks.number",
}
_HAS_ONE_MORE_MARK = """EXISTS (
    SELECT 1 FROM marks AS too WHERE too.kind = ? AND too.value = ?
        AND too.started_at = queries.started_at AND too.number = queries.number
)"""
_HAS_FEEDBACK = {"any": "feedback IS NOT NULL", "none": "feedback IS NULL"}

# Reads all matches, because only the other conditions decide which of them are wanted: 0.2 s in a thread for a word
# that is in each of 100,000 traces, and 2 ms for a rarer one.
_HAS_WORDS = "queries.number IN (SELECT rowid / 2 FROM words WHERE words MATCH ?)"
_IN_QUESTION = "instr(lower(query), lower(?)) > 0"


class Conditions:
    """The queries whose line meets a filter and has a label, or any label (None); every piece of the SQL is a constant.

    Attributes:
        leading: The table whose index SQLite walks, and whose time orders the lines.
        values: The parameters of `sql`.
    """

    def __init__(self, where: TraceFilter, label: str | None) -> None:
        self._clauses: list[str] = []
        self.values: list[object] = []
        # A filter by mark walks the index of marks, which holds the time too, so that the newest lines with a mark come
        # in order.
        self.leading = "queries"
        self._add_marks(where)
        self._add_label(label)
        self._add_plain(where)
        if where.text is not None:
            self._add_text(where.text)

    @property
    def sql(self) -> str:
        """The statement from FROM on, up to its conditions."""
        conditions = " AND ".join(self._clauses) or "1"
        return f"FROM {_SOURCE[self.leading]} WHERE {conditions}"

    def add(self, clause: str, *values: object) -> None:
        """Adds one more condition."""
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
            if self.leading == "queries":
                self.leading = "marks"
                self.add("marks.kind = ? AND marks.value = ?", kind, value)
            else:
                self.add(_HAS_ONE_MORE_MARK, kind, value)

    def _add_label(self, label: str | None) -> None:
        if label is None:
            return
        self.add("tenant = ?", label)
        # Redundant, but SQLite uses the partial index of tenants only if the statement repeats its condition.
        if label != LOCAL_TENANT:
            self.add(f"tenant <> '{LOCAL_TENANT}'")

    def _add_plain(self, where: TraceFilter) -> None:
        wishes: tuple[tuple[str, object], ...] = (
            ("queries.started_at >= ?", where.since),
            ("queries.started_at < ?", where.until),
            ("status = ?", where.status),
            ("confidence = ?", where.confidence),
            ("session_id = ?", where.session_id),
            ("parent = ?", where.parent),
        )
        for clause, value in wishes:
            if value is not None:
                self.add(clause, value)
        if where.feedback in _HAS_FEEDBACK:
            self.add(_HAS_FEEDBACK[where.feedback])
        elif where.feedback is not None:
            self.add("feedback = ?", where.feedback)

    def _add_text(self, text: str) -> None:
        words = sound_text(text.replace("\x00", " ")).split()
        # An unfinished query is found only by its question; everything else enters the index when it ends.
        clauses = ["status = 'open'", *[_IN_QUESTION] * len(words)]
        in_open_question = " AND ".join(clauses) if words else "0"
        self.add(f"({_HAS_WORDS} OR {in_open_question})", _quoted(words), *words)


def _quoted(words: Sequence[str]) -> str:
    """Returns all the words, each quoted, so that FTS5 reads none of it as its own syntax."""
    if not words:
        return '""'  # FTS5 refuses an empty query
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    return " ".join(quoted)
