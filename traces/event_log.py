"""Events as the store holds them: packed into rows, long texts replaced by `{"kept": "<sha256>"}` and stored once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from antiphon.traces.codec import encode_text, without_surrogates
from antiphon.traces.reading import Form, form_of, program_of, upgraded
from antiphon.traces.unpacking import Fetch, Unpacker
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError, NotFoundError
from antiphon.vocabulary.events import VERSION, Event, Recorded
from antiphon.vocabulary.values import StoredText

KEPT_FROM_BYTES = 200
"""Texts of at least this many bytes are stored apart; a shorter one costs less in place than its reference."""

_INSERT_EVENT = "INSERT INTO events (query_id, seq, cause, at, kind, version, body) VALUES (?, ?, ?, ?, ?, ?, ?)"
_INSERT_TEXT = "INSERT OR IGNORE INTO kept (key, text) VALUES (?, ?)"
_EVENTS = """
    SELECT query_id, seq, cause, at, version, body FROM events WHERE query_id = ? AND seq > ? ORDER BY seq
"""


class EventRow(NamedTuple):
    """One row of `events`."""

    query_id: str
    seq: int
    cause: int
    at: float
    kind: str
    version: int
    body: bytes


class Packer:
    """Packs events, and gathers the long texts that they refer to until `take_texts`."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._encoder = msgspec.json.Encoder(enc_hook=self._refer)

    def pack(self, event: Event) -> bytes:
        """Encodes an event in the store's form."""
        try:
            return self._encoder.encode(event)
        except UnicodeEncodeError:
            return self._encoder.encode(without_surrogates(event))

    def row(self, query_id: str, recorded: Recorded[Event]) -> EventRow:
        """Packs a recorded event into its row."""
        body = self.pack(recorded.event)
        kind = recorded.event.kind_name()
        return EventRow(
            query_id,
            recorded.seq,
            recorded.cause,
            recorded.at,
            kind,
            VERSION,
            body,
        )

    def take_texts(self) -> dict[str, str]:
        """Returns the texts gathered since the last call, by key."""
        texts = self._texts
        self._texts = {}
        return texts

    def _refer(self, value: object) -> object:
        # Called several times an event, so that each call counts.
        if not isinstance(value, StoredText):
            return encode_text(value)
        text = value.text
        if not _is_long(text):
            return text
        key = value.key
        self._texts[key] = text
        return {"kept": key}


def _is_long(text: str) -> bool:
    """Returns True from `KEPT_FROM_BYTES` bytes on; most texts are judged by their length, without encoding them."""
    if len(text) >= KEPT_FROM_BYTES:
        return True
    # UTF-8 takes four bytes a character at most.
    if len(text) * 4 < KEPT_FROM_BYTES:
        return False
    return len(text.encode()) >= KEPT_FROM_BYTES


def write_texts(connection: sqlite3.Connection, texts: Mapping[str, str]) -> None:
    """Adds the long texts that events refer to."""
    rows: list[tuple[bytes, str]] = []
    for key, text in texts.items():
        rows.append((bytes.fromhex(key), text))
    if rows:
        connection.executemany(_INSERT_TEXT, rows)


def write_events(connection: sqlite3.Connection, rows: Sequence[EventRow]) -> None:
    """Adds events."""
    connection.executemany(_INSERT_EVENT, rows)


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
    for row in connection.execute(_EVENTS, (query_id, after)):
        try:
            events.append(unpacker.unpack(*row))
        except DecodeError as error:
            raise _with_program(connection, query_id, error) from error
    if not events and last_seq(connection, query_id) == 0:
        raise unknown_trace(query_id)
    return events


def _with_program(
    connection: sqlite3.Connection, query_id: str, error: DecodeError
) -> DecodeError:
    """Returns the error with the program that recorded the trace, which can read it."""
    for (first,) in connection.execute(
        "SELECT body FROM events WHERE query_id = ? AND seq = 1", (query_id,)
    ):
        if program := program_of(first):
            return DecodeError(f"{error} (recorded by Antiphon {program})", error.seq)
    return error


def read_forms(connection: sqlite3.Connection, query_id: str) -> list[Form]:
    """Reads each event of a trace with the fields that it had when it was written."""
    forms: list[Form] = []
    for *_, version, body in connection.execute(_EVENTS, (query_id, 0)):
        forms.append(upgraded(form_of(body), version))
    return forms


def read_lines(connection: sqlite3.Connection, query_id: str) -> list[bytes]:
    """Reads a trace as lines of JSON, each event as it is stored, whether or not this program knows its fields.

    Raises:
        NotFoundError: No such trace.
    """
    fetch = _fetch_over(connection)
    lines: list[bytes] = []
    for row in connection.execute(_EVENTS, (query_id, 0)):
        _, seq, cause, at, version, body = row
        lines.append(line_of(query_id, seq, cause, at, version, body, fetch))
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
    """Returns a stored event as a line of JSON, whole, whether or not this program knows its fields."""
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
    """Returns an event as plain JSON; what is none, in hex, for somebody to mend."""
    try:
        return form_of(body)
    except (msgspec.DecodeError, RecursionError):
        return {"unreadable": body.hex()}


def _whole(stored: object, fetch: Fetch) -> object:
    """Returns plain JSON with the long texts in the place of their keys; a key without a text stays."""
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


def last_seq(connection: sqlite3.Connection, query_id: str) -> int:
    """Returns the `seq` of a trace's last event; 0 where there is none."""
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
    """Returns the refusal of an id that no trace has."""
    return NotFoundError(
        f"there is no trace {query_id}; GET /api/traces or `antiphon traces list` names all"
    )
