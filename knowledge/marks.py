"""Places in a file: stores them with their section, and finds those of a part of its text.

The catalogue has a table for them instead of a column of sections, because a passage needs one or two of them, and a
long transcript has thousands.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from antiphon.knowledge.values import Mark
from antiphon.vocabulary.values import Passage, Place

MARKS_TABLE = """
CREATE TABLE marks (
    section INTEGER NOT NULL REFERENCES sections ON DELETE CASCADE,
    start INTEGER NOT NULL,
    place TEXT NOT NULL,
    link TEXT,
    heading TEXT NOT NULL,
    PRIMARY KEY (section, start)
) WITHOUT ROWID;
"""
# The last mark at or before the beginning, and those that follow it before the end.
MARKS = """
SELECT start, place, link, heading FROM marks
WHERE section = :section AND start < :end AND start >= coalesce(
    (SELECT max(start) FROM marks WHERE section = :section AND start <= :start), 0
)
ORDER BY start
"""
_INSERT = (
    "INSERT INTO marks (section, start, place, link, heading) VALUES (?, ?, ?, ?, ?)"
)


def store_marks(
    sql: sqlite3.Connection, section: int | None, marks: Sequence[Mark]
) -> None:
    """Stores the marks of a section that has just been stored."""
    rows = [
        (section, mark.start, mark.place, mark.link, mark.heading) for mark in marks
    ]
    sql.executemany(_INSERT, rows)


def marks_of(rows: Iterable[Any]) -> tuple[Mark, ...]:
    """Makes marks from the rows of `MARKS`."""
    return tuple(
        Mark(start=start, place=place, link=link, heading=heading)
        for start, place, link, heading in rows
    )


def placed(passage: Passage, marks: Sequence[Mark]) -> Passage:
    """Returns the passage with its places: the one that applies at its start, if any, and those within it.

    Args:
        marks: The result of `MARKS` for the passage's part of its section.
    """
    start = passage.start or 0
    place, link, later = None, passage.link, list(marks)
    if marks and marks[0].start <= start:
        first = later.pop(0)
        place, link = first.place or None, first.link or link
    places = [
        Place(start=mark.start - start, name=mark.place, link=mark.link)
        for mark in later
        if mark.place
    ]
    return replace(passage, place=place, link=link, places=tuple(places))


def headings_of(marks: Sequence[Mark], start: int, length: int) -> str:
    """Returns the headings above a part of the text, for the search by words."""
    by_start = attrgetter("start")
    first = max(bisect_right(marks, start, key=by_start) - 1, 0)
    end = bisect_right(marks, start + length - 1, key=by_start)
    return " ".join(dict.fromkeys(mark.heading for mark in marks[first:end]))
