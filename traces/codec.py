"""Recorded events as plain JSON, for people and other programs, and the words with which a foreign one is refused.

A `StoredText` reads and writes as a plain string here; traces/event_log.py has the form in which a store holds it once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

import msgspec

from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import VERSION, Event, Live, Recorded
from antiphon.vocabulary.values import StoredText

S = TypeVar("S", bound=msgspec.Struct)


class _Header(msgspec.Struct):
    """The fields of a refused event that give its place."""

    query_id: str = "unknown"
    seq: int = 0
    version: int = VERSION
    event: msgspec.Raw = msgspec.Raw(b"{}")


class _Tag(msgspec.Struct):
    """The field of a refused event that gives the kind it claims to be."""

    kind: str = ""


_header_decoder = msgspec.json.Decoder(_Header)
_tag_decoder = msgspec.json.Decoder(_Tag)


def encode_text(value: object) -> str:
    """Returns the plain form of a `StoredText`, as msgspec asks for it."""
    if isinstance(value, StoredText):
        return value.text
    raise NotImplementedError(f"{type(value).__name__} is no value of the vocabulary")


def decode_text(_type: type, text: object) -> StoredText:
    """Returns a `StoredText` from its plain form, as msgspec asks for it."""
    if isinstance(text, str):
        return StoredText(text)
    raise ValueError(f"Expected `str`, got `{type(text).__name__}`")


_encoder = msgspec.json.Encoder(enc_hook=encode_text)


def to_json(item: Recorded[Event] | Live) -> bytes:
    """Encodes what a follower or reader is sent; a number that JSON cannot say (NaN, infinity) becomes null."""
    try:
        return _encoder.encode(item)
    except UnicodeEncodeError:
        if isinstance(item, Recorded):
            return _encoder.encode(
                msgspec.structs.replace(item, event=without_surrogates(item.event))
            )
        return _encoder.encode(without_surrogates(item))


def plain(struct: msgspec.Struct | None) -> object:
    """Returns a struct as dictionaries, lists and plain values; None for None."""
    return msgspec.to_builtins(struct, enc_hook=encode_text)


def event_of(plain: object, catalog: Catalog = BUILT_IN) -> Event:
    """Builds an event from its plain form.

    Raises:
        DecodeError: The catalog holds none like it.
    """
    try:
        event: Event = msgspec.convert(plain, catalog.union, dec_hook=decode_text)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DecodeError(str(error)) from error
    return event


def from_json(data: bytes, catalog: Catalog = BUILT_IN) -> Recorded[Event]:
    """Decodes a recorded event.

    Raises:
        DecodeError: Its kind, a field or its version is unknown, or it is no JSON.
    """
    try:
        recorded = _decoder_of(catalog).decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        header = _header_of(data)
        check_version(header.query_id, header.seq, header.version)
        raise refusal(
            header.query_id, header.seq, wrong_in(bytes(header.event), error, catalog)
        ) from error
    check_version(recorded.query_id, recorded.seq, recorded.version)
    return recorded


# A process has one catalog, tests a few; more than the bound would only be built once more.
@lru_cache(maxsize=8)
def _decoder_of(catalog: Catalog) -> msgspec.json.Decoder[Recorded[Event]]:
    of_any = Recorded[catalog.union]  # type: ignore[name-defined]  # built at run time
    return msgspec.json.Decoder(of_any, dec_hook=decode_text)


def check_version(query_id: str, seq: int, version: int) -> None:
    """Refuses an event that another version of the vocabulary wrote."""
    if version != VERSION:
        raise refusal(
            query_id, seq, f"it was written with vocabulary version {version}"
        )


def wrong_in(event: bytes, error: Exception, catalog: Catalog) -> str:
    """Explains why an event cannot be decoded: an unknown kind by its name, anything else in the words of `error`."""
    try:
        kind = _tag_decoder.decode(event).kind
    except (msgspec.DecodeError, RecursionError):
        return str(error)
    if not kind or kind in catalog.by_kind:
        return str(error)
    return (
        f"there is no event of kind {kind[:80]!r} here: a subscriber that defines it must be named in "
        "ANTIPHON_SUBSCRIBERS"
    )


def refusal(query_id: str, seq: int, wrong: str) -> DecodeError:
    """Returns the error for an event that cannot be read: where it stands, what is wrong, what this program reads."""
    # Where not even the head of the event could be read, its place is not known.
    place = "unknown"
    if seq:
        place = str(seq)
    return DecodeError(
        f"trace {query_id}, seq {place}: {wrong}; this program reads vocabulary version {VERSION}, "
        "so read the trace with the program that wrote it",
        seq,
    )


def without_surrogates(struct: S) -> S:
    """Returns `struct` with every text sound.

    Hostile JSON brings them in (`"\\ud800"`), and no UTF-8 text, hence no JSON file and no database, can hold them.
    """
    return msgspec.convert(_sound(plain(struct)), type(struct), dec_hook=decode_text)


def sound_text(text: str) -> str:
    """Returns `text` as UTF-8 can hold it: lone surrogates replaced by U+FFFD, split pairs joined."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sound(plain: object) -> object:
    if isinstance(plain, str):
        return sound_text(plain)
    if isinstance(plain, dict):
        return {key: _sound(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_sound(value) for value in plain]
    return plain


def _header_of(data: bytes) -> _Header:
    try:
        return _header_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return _Header()
