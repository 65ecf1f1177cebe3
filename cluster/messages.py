"""Appends as messages in the stream of traces: events in the store's form, and each long text once in a trace."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from antiphon.cluster.stream_reading import StoredMessage
from antiphon.cluster.streams import text_of, token
from antiphon.traces import EventRow, Packer
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import Event, QueryClosed, Recorded
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.typed import prepared

BLOB_BYTES = 64 * 1024
"""Texts of this size or more are stored apart, by their hash."""
ROOM_BYTES = 16 * 1024
"""Room in a message besides its payload, for its headers and those that the server adds."""

EVENTS = "Antiphon-Events"
"""The first and the last `seq` of the message's events."""
CLOSED = "Antiphon-Closed"
"""Present if the last event is `QueryClosed`."""
TENANT = "Antiphon-Tenant"
IMPORTED = "Antiphon-Imported"
PAYLOAD = "Antiphon-Payload"
"""The key of a payload that is too large for a message, and is stored among the long texts."""
APPEND_ID = "Nats-Msg-Id"


class Payload(msgspec.Struct, frozen=True, array_like=True):
    """The content of a message of a trace.

    Attributes:
        events: A row for each event, without the id of its trace, which the message's subject gives.
        texts: Long texts that no earlier message of the trace holds, by key.
        blobs: The keys of longer texts, which are stored apart.
    """

    events: tuple[tuple[int, int, float, str, int, bytes], ...]
    texts: dict[str, str] = {}
    blobs: tuple[str, ...] = ()

    def rows(self, query_id: str) -> list[EventRow]:
        """Returns the events as rows of the store."""
        return [EventRow(query_id, *event) for event in self.events]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(prepared(Payload))
_feedback = msgspec.json.Decoder(prepared(Feedback))


class Packed(NamedTuple):
    """An append in the form in which it is sent.

    Attributes:
        data: The message's payload; empty if it is too large, and `blobs` holds it.
        blobs: Texts to store by their hash before the message.
        keys: The keys of the long texts that the append adds to the trace.
    """

    data: bytes
    headers: dict[str, str]
    blobs: Mapping[str, bytes]
    keys: frozenset[str]


def pack(
    packer: Packer,
    query_id: str,
    events: Sequence[Recorded[Event]],
    known: set[str],
    most_bytes: int,
) -> Packed:
    """Packs events for one message.

    Args:
        known: Keys of the long texts that the trace holds already.
        most_bytes: The largest message that the server takes.
    """
    rows: list[tuple[int, int, float, str, int, bytes]] = []
    for recorded in events:
        row = packer.row(query_id, recorded)
        rows.append((row.seq, row.cause, row.at, row.kind, row.version, row.body))
    texts = {key: text for key, text in packer.take_texts().items() if key not in known}
    keys = frozenset(texts)
    blobs = _take_longest(texts)
    data = _encoder.encode(Payload(tuple(rows), texts, tuple(blobs)))
    headers = {EVENTS: f"{events[0].seq}-{events[-1].seq}"}
    if isinstance(events[-1].event, QueryClosed):
        headers[CLOSED] = "1"
    # Even without its longest texts an append of many events may be too large: then it is stored like such a text.
    if len(data) > most_bytes - ROOM_BYTES:
        key = hashlib.sha256(data).hexdigest()
        blobs[key] = data
        headers[PAYLOAD] = key
        data = b""
    return Packed(data, headers, blobs, keys)


def _take_longest(texts: dict[str, str]) -> dict[str, bytes]:
    """Takes out the texts that are stored apart."""
    # UTF-8 takes four bytes a character at most, so few texts must be encoded to know their size.
    blobs = {
        key: text.encode()
        for key, text in texts.items()
        if len(text) * 4 >= BLOB_BYTES and len(text.encode()) >= BLOB_BYTES
    }
    for key in blobs:
        del texts[key]
    return blobs


def unpack(data: bytes, query_id: str) -> Payload:
    """Reads a message's payload.

    Raises:
        DecodeError: It is not one of ours.
    """
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(
            f"trace {query_id}: a message on NATS is not this program's ({error})"
        ) from error


def feedback_in(data: bytes) -> Feedback | None:
    """Returns the feedback in a message; None for a message that is not ours."""
    try:
        return _feedback.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def seqs_of(message: StoredMessage) -> tuple[int, int]:
    """Returns the first and last `seq` of a message's events; zeros for a message that is not ours."""
    first, _, last = message.headers.get(EVENTS, "").partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        return 0, 0
    return int(first), int(last)


def is_closed(message: StoredMessage) -> bool:
    """Returns True if the message holds the end of its query."""
    return CLOSED in message.headers


def beginning_headers(tenant: str, *, imported: bool) -> dict[str, str]:
    """Returns the headers that only the first message of a trace has."""
    headers: dict[str, str] = {}
    if tenant != LOCAL_TENANT:
        headers[TENANT] = token(tenant)
    if imported:
        headers[IMPORTED] = "1"
    return headers


def tenant_of(headers: Mapping[str, str]) -> str:
    """Returns the tenant of a trace, by the headers of its first message."""
    named = headers.get(TENANT)
    if named is None:
        return LOCAL_TENANT
    try:
        return text_of(named)
    # This program did not write it, and no tenant has that name.
    except ValueError:
        return named
