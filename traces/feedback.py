"""Feedback on answers, in the lines of their queries: listed, filtered, encrypted and deleted together with them.

It is no event: a trace ends with `query_closed`, while a judgement of the answer comes later, may change or be
withdrawn, and no replay could reproduce it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from antiphon.traces.event_log import unknown_trace
from antiphon.traces.visibility import VISIBLE
from antiphon.vocabulary.feedback import Feedback

_SET = """
    UPDATE queries SET feedback = :rating, feedback_note = :note, feedback_at = :at WHERE query_id = :query_id
"""
_READ = "SELECT feedback, feedback_note, feedback_at FROM queries WHERE query_id = ?"


def write_feedback(
    connection: sqlite3.Connection,
    query_id: str,
    feedback: Feedback | None,
    label: str | None = None,
) -> None:
    """Replaces the feedback on an answer with a label, or with any label (None).

    Raises:
        NotFoundError: No such trace.
    """
    values: dict[str, object] = {
        "query_id": query_id,
        "label": label,
        "rating": None,
        "note": None,
        "at": None,
    }
    if feedback is not None:
        values |= {
            "rating": feedback.rating,
            "note": feedback.note,
            "at": feedback.at,
        }
    if connection.execute(f"{_SET} AND {VISIBLE}", values).rowcount == 0:
        raise unknown_trace(query_id)


def read_feedback(connection: sqlite3.Connection, query_id: str) -> Feedback | None:
    """Reads the feedback on an answer."""
    row = connection.execute(_READ, (query_id,)).fetchone()
    return None if row is None else feedback_in(row)


def feedback_in(columns: Sequence[Any]) -> Feedback | None:
    """Returns the feedback that the columns of a query's line hold: rating, note and time."""
    rating, note, at = columns
    if rating is None:
        return None
    return Feedback(rating=rating, note=note, at=at)
