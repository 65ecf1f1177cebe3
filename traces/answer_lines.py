"""The part of a query's line that describes its answer: its first words, and its cost."""

from __future__ import annotations

import sqlite3

import structlog

from antiphon.traces.codec import sound_text
from antiphon.traces.event_log import answer_in, unpacker_of
from antiphon.traces.event_rows import EventRow
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import ResponseAssembled

_log = structlog.get_logger(__name__)

_ANSWER_CHARS = 200
"""Most characters of an answer in a listing."""

_MOST = 2**63 - 1
"""The largest whole number that a column of SQLite holds; an imported trace may claim more."""

_NOTE = """
    UPDATE queries SET confidence = ?, reasoner = ?, answer_seq = ?, answer = ?, rounds = ?, input_tokens = ?,
        output_tokens = ?, cost_usd = ?
    WHERE query_id = ?
"""
_WITHOUT = "SELECT query_id, answer_seq FROM queries WHERE rounds IS NULL AND answer_seq IS NOT NULL"
_EVENT = """
    SELECT query_id, seq, cause, at, kind, version, body FROM events WHERE query_id = ? AND seq >= ?
    ORDER BY seq LIMIT 1
"""


def note_answer(
    connection: sqlite3.Connection, query_id: str, seq: int, answer: ResponseAssembled
) -> None:
    """Adds an answer, the event `seq` of its trace, to its query's line."""
    usage = answer.usage + answer.summary_usage
    values = (
        answer.confidence,
        answer.reasoner,
        seq,
        sound_text(answer.answer[:_ANSWER_CHARS]),
        _whole(answer.rounds),
        _whole(usage.all_input_tokens),
        _whole(usage.output_tokens),
        usage.cost_usd,
    )
    connection.execute(_NOTE, (*values, query_id))


def _whole(number: int) -> int:
    return max(-_MOST, min(number, _MOST))


def add_answers(connection: sqlite3.Connection) -> None:
    """Adds the answers to the lines of an older format, all or nothing; skips an answer that cannot be read."""
    unpacker = unpacker_of(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        # One answer at a time: those of a large store take more memory than the service.
        for query_id, seq in connection.execute(_WITHOUT).fetchall():
            columns = connection.execute(_EVENT, (query_id, seq)).fetchone()
            if columns is None:
                continue
            row = EventRow(*columns)
            try:
                answer = answer_in(row, seq, unpacker)
            except DecodeError as error:
                _log.warning("answer_not_listed", error=str(error))
                continue
            if answer is not None:
                note_answer(connection, row.query_id, seq, answer)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
