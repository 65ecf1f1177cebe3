"""Rows of `events`: each holds the events of one append, or one event alone.

The body of an append has lines: a head with the cause and the time of each event, then an event a line. One row and one
index entry for ten events cost a fraction of ten rows with ten entries. Rows of one event alone are in stores of format
3 and before, and in the index of traces that are stored elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from antiphon.traces.codec import encode_text, without_surrogates
from antiphon.vocabulary.events import VERSION, Event, Recorded
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import StoredText

KEPT_FROM_BYTES = 200
"""Texts of at least this many bytes are stored separately; a shorter one costs less than its reference."""

SEVERAL = ""
"""The kind of a row that holds one append; its other columns are those of the last event."""

_MOST_TOGETHER = 16
"""Most events of a row. A query appends ten together; a trace recorded elsewhere may have thousands, and deletion takes
some rows at a time."""


class EventRow(NamedTuple):
    """One row of `events`."""

    query_id: str
    seq: int
    cause: int
    at: float
    kind: str
    version: int
    body: bytes


class StoredEvent(NamedTuple):
    """One event as a row holds it, undecoded."""

    query_id: str
    seq: int
    cause: int
    at: float
    version: int
    body: bytes


class Packer:
    """Packs events, and collects the long texts that they refer to until `take_texts`."""

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
        """Packs a recorded event into a row of its own."""
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

    def rows(self, query_id: str, events: Sequence[Recorded[Event]]) -> list[EventRow]:
        """Packs the events of one append."""
        rows: list[EventRow] = []
        for start in range(0, len(events), _MOST_TOGETHER):
            together = events[start : start + _MOST_TOGETHER]
            last = together[-1]
            body = self._lines(together)
            rows.append(
                EventRow(
                    query_id, last.seq, last.cause, last.at, SEVERAL, VERSION, body
                )
            )
        return rows

    def take_texts(self) -> dict[str, str]:
        """Returns the texts collected since the last call, by key."""
        texts = self._texts
        self._texts = {}
        return texts

    def _lines(self, together: Sequence[Recorded[Event]]) -> bytes:
        head = [(recorded.cause, recorded.at) for recorded in together]
        events = [recorded.event for recorded in together]
        try:
            return self._encoder.encode_lines([head, *events])
        except UnicodeEncodeError:
            return self._encoder.encode_lines([head, *map(without_surrogates, events)])

    def _refer(self, value: object) -> object:
        # Called several times an event, so it must be fast.
        if not isinstance(value, StoredText):
            return encode_text(value)
        text = value.text
        if not _is_long(text):
            return text
        key = value.key
        self._texts[key] = text
        return {"kept": key}


_heads = msgspec.json.Decoder(prepared(tuple[tuple[int, float], ...]))


def events_in(row: EventRow) -> Sequence[StoredEvent]:
    """Returns the events of a row, in order; a damaged row counts as one event that cannot be read."""
    query_id, seq, cause, at, kind, version, body = row
    whole = StoredEvent(query_id, seq, cause, at, version, body)
    if kind != SEVERAL:
        return [whole]
    # JSON has no line breaks within a line, and nothing follows the last one.
    head, *lines = body.removesuffix(b"\n").split(b"\n")
    try:
        places = _heads.decode(head)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return [whole]
    if not lines or len(places) != len(lines):
        return [whole]
    first = seq - len(lines) + 1
    return [
        StoredEvent(query_id, first + number, caused_by, then, version, line)
        for number, ((caused_by, then), line) in enumerate(
            zip(places, lines, strict=True)
        )
    ]


def _is_long(text: str) -> bool:
    """Returns True from `KEPT_FROM_BYTES` bytes on; for most texts the length decides, without encoding them."""
    if len(text) >= KEPT_FROM_BYTES:
        return True
    # UTF-8 takes four bytes a character at most.
    if len(text) * 4 < KEPT_FROM_BYTES:
        return False
    return len(text.encode()) >= KEPT_FROM_BYTES
