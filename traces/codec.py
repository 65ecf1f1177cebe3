"""Recorded events as plain JSON, for people and other programs, and the words with which a foreign one is refused.

A `StoredText` reads and writes as a plain string here; traces/packing.py has the form in which a store holds it once.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import VERSION, Event, Live, Recorded
from antiphon.vocabulary.values import StoredText

S = TypeVar("S", bound=msgspec.Struct)


class _Header(msgspec.Struct):
    """As much of a refused event as tells where it stands."""

    query_id: str = "unknown"
    seq: int = 0
    version: int = VERSION


def text_of(kept: object) -> str:
    """The plain form of a `StoredText`, as msgspec asks for it."""
    if isinstance(kept, StoredText):
        return kept.text
    raise NotImplementedError(f"{type(kept).__name__} is no value of the vocabulary")


def kept_of(_type: type, text: object) -> StoredText:
    """A `StoredText` from its plain form, as msgspec asks for it."""
    if isinstance(text, str):
        return StoredText(text)
    raise ValueError(f"Expected `str`, got `{type(text).__name__}`")


_encoder = msgspec.json.Encoder(enc_hook=text_of)
_decoder: msgspec.json.Decoder[Recorded[Event]] = msgspec.json.Decoder(
    Recorded[BUILT_IN.union],  # type: ignore[name-defined]  # built at run time
    dec_hook=kept_of,
)
_header_decoder = msgspec.json.Decoder(_Header)


def to_json(told: Recorded[Event] | Live) -> bytes:
    """What a follower or reader is told, as JSON; numbers must be finite, which JSON cannot say otherwise."""
    try:
        return _encoder.encode(told)
    except UnicodeEncodeError:
        return _encoder.encode(_mended(told))


def plain(struct: msgspec.Struct | None) -> object:
    """What a struct holds as dictionaries, lists and plain values; None for None."""
    return msgspec.to_builtins(struct, enc_hook=text_of)


def event_of(plain: object) -> Event:
    """The event that a plain value says.

    Raises:
        DecodeError: It is none of this vocabulary.
    """
    try:
        event: Event = msgspec.convert(plain, BUILT_IN.union, dec_hook=kept_of)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DecodeError(str(error)) from error
    return event


def from_json(data: bytes) -> Recorded[Event]:
    """The recorded event that `data` says.

    Raises:
        DecodeError: Its kind, a field or its version is not of this vocabulary, or it is no JSON.
    """
    try:
        recorded = _decoder.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        header = _header(data)
        check_version(header.query_id, header.seq, header.version)
        raise refusal(header.query_id, header.seq, str(error)) from error
    check_version(recorded.query_id, recorded.seq, recorded.version)
    return recorded


def check_version(query_id: str, seq: int, version: int) -> None:
    """Refuses an event that another version of the vocabulary wrote."""
    if version != VERSION:
        raise refusal(query_id, seq, f"it was written with vocabulary version {version}")


def refusal(query_id: str, seq: int, found: str) -> DecodeError:
    """The error for an event that cannot be read: where it stands, what was found, what this program reads."""
    return DecodeError(
        f"trace {query_id}, seq {seq or 'unknown'}: {found}; this program reads vocabulary version {VERSION}, "
        "so read the trace with the program that wrote it",
        seq,
    )


def without_surrogates(struct: S) -> S:
    """`struct` with every text sound.

    Hostile JSON brings them in (`"\\ud800"`), and no UTF-8 text, hence no JSON file and no database, can hold them.
    """
    plain = msgspec.to_builtins(struct, enc_hook=text_of)
    return msgspec.convert(_sound(plain), type(struct), dec_hook=kept_of)


def _mended(told: Recorded[Event] | Live) -> Recorded[Event] | Live:
    if isinstance(told, Recorded):
        return msgspec.structs.replace(told, event=without_surrogates(told.event))
    return without_surrogates(told)


def sound_text(text: str) -> str:
    """`text` as UTF-8 can hold it: lone surrogates replaced by U+FFFD, split pairs joined."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _sound(plain: object) -> object:
    if isinstance(plain, str):
        return sound_text(plain)
    if isinstance(plain, dict):
        return {key: _sound(value) for key, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_sound(value) for value in plain]
    return plain


def _header(data: bytes) -> _Header:
    try:
        return _header_decoder.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return _Header()
