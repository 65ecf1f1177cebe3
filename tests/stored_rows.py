"""Splits the rows of a SQLite trace store, for tests that change one stored event by hand."""

from __future__ import annotations

import sqlite3

import msgspec

from antiphon.traces.event_log import write_events
from antiphon.traces.event_rows import EventRow, events_in


def part_rows(file: sqlite3.Connection) -> None:
    """Gives each event its own row, as in stores up to format 3."""
    held = file.execute(
        "SELECT query_id, seq, cause, at, kind, version, body FROM events ORDER BY rowid"
    ).fetchall()
    file.execute("DELETE FROM events")
    for row in held:
        parted: list[EventRow] = []
        for query_id, seq, cause, at, version, body in events_in(EventRow(*row)):
            kind = msgspec.json.decode(body)["kind"]
            parted.append(EventRow(query_id, seq, cause, at, kind, version, body))
        write_events(file, parted)
