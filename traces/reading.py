"""What is read from the store: a trace, the listing, a conversation's exchanges."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

import msgspec

from antiphon.traces.finding import find
from antiphon.traces.packing import Unpacker
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from antiphon.vocabulary.ports import TraceFilter, TraceSummary
from antiphon.vocabulary.values import Exchange

_EVENTS = """
    SELECT query_id, seq, cause, at, version, body FROM events WHERE query_id = ? AND seq > ? ORDER BY seq
"""
_ANSWERS = """
    SELECT queries.query, events.query_id, seq, cause, at, version, body
    FROM queries JOIN events ON events.query_id = queries.query_id AND events.seq = queries.answer_seq
    WHERE session_id = ? AND number > ? AND status IN ('answered', 'partial') AND parent IS NULL
    ORDER BY number DESC LIMIT ?
"""


def read_trace(
    connection: sqlite3.Connection, query_id: str, after: int = 0, catalog: Catalog = BUILT_IN
) -> list[Recorded[Event]]:
    """The events of a trace with `seq` > `after`.

    Raises:
        NotFoundError: No such trace.
        DecodeError: An event cannot be read by this version.
    """
    unpacker = Unpacker(_fetcher(connection), catalog)
    events = [unpacker.unpack(*row) for row in connection.execute(_EVENTS, (query_id, after))]
    if not events and last_seq(connection, query_id) == 0:
        raise NotFoundError(f"there is no trace {query_id}; GET /api/traces or `antiphon traces list` names all")
    return events


def last_seq(connection: sqlite3.Connection, query_id: str) -> int:
    """The `seq` of a trace's last event; 0 where there is none."""
    row = connection.execute("SELECT max(seq) FROM events WHERE query_id = ?", (query_id,)).fetchone()
    return row[0] or 0


def read_forms(connection: sqlite3.Connection, query_id: str) -> list[dict[str, object]]:
    """Each event of a trace as the store holds it: with the fields that it had when it was written."""
    rows = connection.execute(_EVENTS, (query_id, 0))
    return [msgspec.json.decode(body, type=dict[str, object]) for *_, body in rows]


def read_listing(
    connection: sqlite3.Connection, limit: int, before: float | None, after_id: str | None, where: TraceFilter
) -> list[TraceSummary]:
    """One line a query, the newest first."""
    query, values = find(limit, before, after_id, where)
    return [
        TraceSummary(
            query_id=query_id,
            session_id=session_id,
            query=query,
            status=status,
            started_at=started_at,
            duration_ms=duration_ms,
            events=events,
            confidence=confidence,
            reasoner=reasoner,
        )
        for query_id, session_id, query, status, started_at, duration_ms, confidence, reasoner, events in (
            connection.execute(query, values)
        )
    ]


def read_ids(connection: sqlite3.Connection, beginning: str, limit: int) -> list[str]:
    """Ids that begin so, by one range of the index."""
    rows = connection.execute(
        "SELECT query_id FROM queries WHERE query_id >= ? AND query_id < ? ORDER BY query_id LIMIT ?",
        (beginning, f"{beginning}\U0010ffff", limit),
    )
    return [str(row[0]) for row in rows]


def read_unfinished(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """The queries that are not over and who owned each, the oldest first."""
    rows = connection.execute("SELECT query_id, owner FROM queries WHERE status = 'open' ORDER BY started_at, number")
    return [(str(query_id), str(owner)) for query_id, owner in rows]


def owner_of(connection: sqlite3.Connection, query_id: str) -> tuple[str, str]:
    """A query's status, and who works on it.

    Raises:
        NotFoundError: No such query.
    """
    row = connection.execute("SELECT status, owner FROM queries WHERE query_id = ?", (query_id,)).fetchone()
    if row is None:
        raise NotFoundError(f"there is no trace {query_id}; GET /api/traces or `antiphon traces list` names all")
    return str(row[0]), str(row[1])


def read_exchanges(connection: sqlite3.Connection, session_id: str, limit: int) -> list[Exchange]:
    """The conversation's last answered questions since it was cleared, oldest first.

    Raises:
        NotFoundError: No such conversation.
    """
    cleared_after = connection.execute(
        "SELECT cleared_after FROM conversations WHERE session_id = ?", (session_id,)
    ).fetchone()
    if cleared_after is None:
        raise unknown_conversation(session_id)
    unpacker = Unpacker(_fetcher(connection))
    rows = connection.execute(_ANSWERS, (session_id, cleared_after[0], limit)).fetchall()
    return [Exchange(question=query, answer=_answer(unpacker.unpack(*row))) for query, *row in reversed(rows)]


def unknown_conversation(session_id: str) -> NotFoundError:
    """The refusal of a conversation that nobody opened."""
    return NotFoundError(f"there is no conversation {session_id!r}; leave session_id out to begin a new one")


def _answer(recorded: Recorded[Event]) -> str:
    return recorded.event.answer if isinstance(recorded.event, ResponseAssembled) else ""


def _fetcher(connection: sqlite3.Connection) -> Callable[[str], str | None]:
    def fetch(key: str) -> str | None:
        row = connection.execute("SELECT text FROM kept WHERE key = ?", (bytes.fromhex(key),)).fetchone()
        return None if row is None else str(row[0])

    return fetch
