"""The form in which a store holds an event: long texts are replaced by `{"kept": "<sha256>"}` and stored once."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import Any, get_type_hints

import msgspec

from antiphon.traces.codec import check_version, encode_text, refusal, without_surrogates, wrong_in
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.fields import Leaf, leaves_of
from antiphon.vocabulary.values import StoredText

KEPT_FROM_BYTES = 200
"""Texts of at least this many bytes are stored apart; a shorter one costs less in place than its reference."""


class Packer:
    """Packs events, and gathers the long texts that they refer to until `take_texts`."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._encoder = msgspec.json.Encoder(enc_hook=self._refer)

    def pack(self, event: Event) -> bytes:
        """The event's JSON in the store's form."""
        try:
            return self._encoder.encode(event)
        except UnicodeEncodeError:
            return self._encoder.encode(without_surrogates(event))

    def take_texts(self) -> dict[str, str]:
        """The texts gathered since the last call, by key."""
        texts, self._texts = self._texts, {}
        return texts

    def _refer(self, value: object) -> object:
        text = encode_text(value)
        if not isinstance(value, StoredText) or not _long(text):
            return text
        self._texts[value.key] = text
        return {"kept": value.key}


class Unpacker:
    """Unpacks events; the same text is fetched once and shared by all events that refer to it.

    Args:
        fetch: Returns the text of a key, or None where there is none.
        catalog: The events that there are.
    """

    def __init__(self, fetch: Callable[[str], str | None], catalog: Catalog = BUILT_IN) -> None:
        self._fetch = fetch
        self._catalog = catalog
        self._seen: dict[str, StoredText] = {}
        self._decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(catalog.union, dec_hook=self._stored_text)

    def unpack(self, query_id: str, seq: int, cause: int, at: float, version: int, body: bytes) -> Recorded[Event]:
        """The recorded event.

        Raises:
            DecodeError: Its kind, a field or its version is not of this vocabulary, or a text of it is missing.
        """
        check_version(query_id, seq, version)
        try:
            event = self._decode(body)
        except (msgspec.DecodeError, RecursionError) as error:
            raise refusal(query_id, seq, wrong_in(body, error, self._catalog)) from error
        return Recorded(query_id=query_id, seq=seq, cause=cause, at=at, event=event, version=version)

    def _decode(self, body: bytes) -> Event:
        try:
            return self._decoder.decode(body)
        except msgspec.ValidationError as error:
            if "Expected `float`, got `null`" not in str(error):
                raise
        # What JSON cannot say (NaN, infinity) was written as null; as a score or a time it counts for nothing.
        event = msgspec.json.decode(body, type=dict[str, Any])
        return self._decoder.decode(msgspec.json.encode(_numbered(event, self._catalog.by_kind[event["kind"]])))

    def _stored_text(self, _type: type, found: object) -> StoredText:
        match found:
            case str():
                return StoredText(found)
            case {"kept": str(key), **others} if not others:
                return self._seen.get(key) or self._look_up(key)
        raise ValueError("Expected a text or its key")

    def _look_up(self, key: str) -> StoredText:
        text = self._fetch(key)
        if text is None:
            raise ValueError(f"The text {key} is missing from the store")
        return self._seen.setdefault(key, StoredText(text))


def _numbered(plain: dict[str, Any], struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Returns the fields of an event or value with 0 for each missing number that the declared type requires."""
    hints = get_type_hints(struct, include_extras=True)
    numbered: dict[str, Any] = {}
    for name, value in plain.items():
        numbered[name] = _number_in(value, leaves_of(hints[name])) if name in hints else value
    return numbered


def _number_in(value: Any, leaves: tuple[Leaf, ...]) -> Any:
    kinds = [leaf.kind for leaf in leaves]
    if value is None and float in kinds and NoneType not in kinds:
        return 0.0
    if isinstance(value, list):
        return [_number_in(each, leaves) for each in value]
    if isinstance(value, dict):
        for leaf in leaves:
            if leaf.is_struct:
                return _numbered(value, leaf.kind)
    return value


def _long(text: str) -> bool:
    """Whether `text` has `KEPT_FROM_BYTES` bytes; most texts are told by their length, without encoding them."""
    if len(text) >= KEPT_FROM_BYTES:
        return True
    return len(text) * 4 >= KEPT_FROM_BYTES and len(text.encode()) >= KEPT_FROM_BYTES
