"""Events as the store holds them: in rows, long texts replaced by `{"kept": "<sha256>"}` and stored once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from antiphon.traces.event_rows import EventRow, StoredEvent, events_in
from antiphon.traces.reading import Form, form_of, program_of, upgraded
from antiphon.traces.unpacking import Fetch, Unpacker
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError, NotFoundError
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled

_INSERT_EVENT = "INSERT INTO events (query_id, seq, cause, at, kind, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_TEXT = "INSERT OR IGNORE INTO kept (key, text) VALUES (?, ?)"
_EVENTS = """
    SELECT query_id, seq, cause, at, kind, version, body FROM events WHERE query_id = ? AND seq > ? ORDER BY seq
"""


def write_texts(connection: sqlite3.Connection, texts: Mapping[str, str]) -> None:
    """Adds the long texts that events refer to."""
    rows = [(bytes.fromhex(key), text) for key, text in texts.items()]
    if rows:
        connection.executemany(_INSERT_TEXT, rows)


def write_events(connection: sqlite3.Connection, rows: Sequence[EventRow]) -> None:
    """Adds events."""
    connection.executemany(_INSERT_EVENT, rows)


def stored_events(
    connection: sqlite3.Connection, query_id: str, after: int = 0
) -> Iterator[StoredEvent]:
    """Reads the events of a trace with `seq` > `after`, undecoded."""
    for row in connection.execute(_EVENTS, (query_id, after)):
        for stored in events_in(EventRow(*row)):
            # A row's own number is that of its last event.
            if stored.seq > after:
                yield stored


def read_trace(
    connection: sqlite3.Connection,
    query_id: str,
    after: int = 0,
    catalog: Catalog = BUILT_IN,
) -> list[Recorded[Event]]:
    """Reads the events of a trace with `seq` > `after`.

    Raises:
        NotFoundError: No such trace.
        DecodeError: An event cannot be read by this version.
    """
    unpacker = unpacker_of(connection, catalog)
    events: list[Recorded[Event]] = []
    for stored in stored_events(connection, query_id, after):
        try:
            events.append(unpacker.unpack(*stored))
        except DecodeError as error:
            raise _with_program(connection, query_id, error) from error
    if not events and last_seq(connection, query_id) == 0:
        raise unknown_trace(query_id)
    return events


def _with_program(
    connection: sqlite3.Connection, query_id: str, error: DecodeError
) -> DecodeError:
    """Adds to the error the version of the program that recorded the trace, which can read it."""
    first = next(stored_events(connection, query_id), None)
    if first is None:
        return error
    if program := program_of(first.body):
        return DecodeError(f"{error} (recorded by Antiphon {program})", error.seq)
    return error


def read_forms(connection: sqlite3.Connection, query_id: str) -> list[Form]:
    """Reads each event of a trace with the fields that it had when it was written."""
    return [
        upgraded(form_of(stored.body), stored.version)
        for stored in stored_events(connection, query_id)
    ]


def read_lines(connection: sqlite3.Connection, query_id: str) -> list[bytes]:
    """Reads a trace as lines of JSON, each event as stored, whether or not this program knows its fields.

    Raises:
        NotFoundError: No such trace.
    """
    fetch = _fetch_over(connection)
    lines = [line_of(*stored, fetch) for stored in stored_events(connection, query_id)]
    if not lines:
        raise unknown_trace(query_id)
    return lines


def line_of(
    query_id: str,
    seq: int,
    cause: int,
    at: float,
    version: int,
    body: bytes,
    fetch: Fetch,
) -> bytes:
    """Returns a stored event as a line of JSON, with its long texts, whether or not this program knows its fields."""
    line = {
        "query_id": query_id,
        "seq": seq,
        "cause": cause,
        "at": at,
        "event": _whole(_form_or_bytes(body), fetch),
        "version": version,
    }
    return msgspec.json.encode(line)


def _form_or_bytes(body: bytes) -> Form:
    """Returns an event as plain JSON; a body that is not JSON in hex, so that somebody can repair it."""
    try:
        return form_of(body)
    except (msgspec.DecodeError, RecursionError):
        return {"unreadable": body.hex()}


def _whole(stored: object, fetch: Fetch) -> object:
    """Returns plain JSON with long texts in place of their keys; a key without a text stays."""
    match stored:
        case {"kept": str(key), **others} if not others and _is_key(key):
            text = fetch(key)
            if text is None:
                return stored
            return text
        case dict():
            return {name: _whole(value, fetch) for name, value in stored.items()}
        case list():
            return [_whole(value, fetch) for value in stored]
    return stored


def _is_key(key: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", key) is not None


def answer_in(row: EventRow, seq: int, unpacker: Unpacker) -> ResponseAssembled | None:
    """Returns the event `seq` of the row if it is an answer, else None.

    Raises:
        DecodeError: It cannot be read by this version.
    """
    for stored in events_in(row):
        if stored.seq == seq:
            event = unpacker.unpack(*stored).event
            if isinstance(event, ResponseAssembled):
                return event
    return None


def last_seq(connection: sqlite3.Connection, query_id: str) -> int:
    """Returns the `seq` of a trace's last event; 0 if there is none."""
    row = connection.execute(
        "SELECT max(seq) FROM events WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row[0] is None:
        return 0
    return int(row[0])


def unpacker_of(
    connection: sqlite3.Connection, catalog: Catalog = BUILT_IN
) -> Unpacker:
    """Returns an unpacker that fetches long texts over a connection."""
    return Unpacker(_fetch_over(connection), catalog)


def _fetch_over(connection: sqlite3.Connection) -> Fetch:
    def fetch(key: str) -> str | None:
        row = connection.execute(
            "SELECT text FROM kept WHERE key = ?", (bytes.fromhex(key),)
        ).fetchone()
        if row is None:
            return None
        return str(row[0])

    return fetch


def unknown_trace(query_id: str) -> NotFoundError:
    """Returns the error for an id that no trace has."""
    return NotFoundError(
        f"there is no trace {query_id}; GET /api/traces or `antiphon traces list` names all"
    )
