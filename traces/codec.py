"""Recorded events as plain JSON, for people and other programs.

A `StoredText` is a plain string here; traces/event_log.py has the form in which a store holds it once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec

from antiphon.traces.reading import EventReader, decode_text, refusal
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import VERSION, Event, Live, Recorded
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import StoredText

S = TypeVar("S", bound=msgspec.Struct)


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """A recorded event whose inner event is not decoded yet."""

    query_id: str
    seq: int
    cause: int
    at: float
    event: msgspec.Raw
    version: int = VERSION


class _Header(msgspec.Struct):
    """The fields of a refused line that tell its place."""

    query_id: str = "unknown"
    seq: int = 0


_line_decoder = msgspec.json.Decoder(prepared(_Line))
_header_decoder = msgspec.json.Decoder(prepared(_Header))


def encode_text(value: object) -> str:
    """Returns the plain form of a `StoredText`; msgspec calls it to encode one."""
    if isinstance(value, StoredText):
        return value.text
    raise NotImplementedError(f"{type(value).__name__} is no value of the vocabulary")


_encoder = msgspec.json.Encoder(enc_hook=encode_text)


def to_json(item: Recorded[Event] | Live) -> bytes:
    """Encodes an item for a follower or reader; a number that JSON cannot express (NaN, infinity) becomes null."""
    try:
        return _encoder.encode(item)
    # Texts are mended only after a failure, because hardly any holds a lone surrogate.
    except UnicodeEncodeError:
        if isinstance(item, Recorded):
            return _encoder.encode(
                msgspec.structs.replace(item, event=without_surrogates(item.event))
            )
        return _encoder.encode(without_surrogates(item))


def plain_event(event: msgspec.Struct) -> bytes:
    """Encodes an event alone, with its long texts in place."""
    try:
        return _encoder.encode(event)
    except UnicodeEncodeError:
        return _encoder.encode(without_surrogates(event))


def plain(struct: msgspec.Struct | None) -> object:
    """Returns a struct as dictionaries, lists and plain values; None for None."""
    return msgspec.to_builtins(struct, enc_hook=encode_text)


def event_of(plain: object, catalog: Catalog = BUILT_IN) -> Event:
    """Builds an event from its plain form.

    Raises:
        DecodeError: The catalog holds no event of that kind and shape.
    """
    try:
        event: Event = msgspec.convert(
            plain, prepared(catalog.union), dec_hook=decode_text
        )
    except (msgspec.ValidationError, RecursionError) as error:
        raise DecodeError(str(error)) from error
    except UnicodeEncodeError as error:
        raise DecodeError("it holds half a character, a lone surrogate") from error
    return event


def from_json(data: bytes, catalog: Catalog = BUILT_IN) -> Recorded[Event]:
    """Decodes a recorded event, as `traces/reading.py` reads its version.

    Raises:
        DecodeError: A field or its version is unknown, or it is no JSON; see `EventReader.read`.
    """
    try:
        line = _line_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        header = _header_of(data)
        raise refusal(header.query_id, header.seq, str(error)) from error
    event = _reader_of(catalog).read(
        line.query_id, line.seq, line.version, bytes(line.event)
    )
    return Recorded(
        query_id=line.query_id,
        seq=line.seq,
        cause=line.cause,
        at=line.at,
        event=event,
    )


# A process has one catalog, tests a few; beyond the bound, decoders are merely built again.
@lru_cache(maxsize=8)
def _reader_of(catalog: Catalog) -> EventReader:
    return EventReader(catalog)


def without_surrogates(struct: S) -> S:
    """Returns `struct` with every text fit for UTF-8.

    Hostile JSON brings in lone surrogates (`"\\ud800"`), which no UTF-8 text, hence no JSON file and no database, can
    hold.
    """
    return msgspec.convert(
        _sound(plain(struct)), prepared(type(struct)), dec_hook=decode_text
    )


def sound_text(text: str) -> str:
    """Makes `text` fit for UTF-8: replaces lone surrogates by U+FFFD, and joins split pairs."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sound(plain: object) -> object:
    if isinstance(plain, str):
        return sound_text(plain)
    if isinstance(plain, dict):
        return {key: _sound(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return list(map(_sound, plain))
    return plain


def _header_of(data: bytes) -> _Header:
    try:
        return _header_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return _Header()
