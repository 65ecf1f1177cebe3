"""Reads events of every released version of the vocabulary, or explains why this program cannot read one.

Released versions of the vocabulary stay readable: a change that raises `VERSION` adds to `UPGRADERS` the function that
turns an event of the previous version into the new form, and to `tests/traces/versions/` a trace of the new version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any, get_type_hints

import msgspec

from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import VERSION, Event
from antiphon.vocabulary.fields import Leaf, leaves_of
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.unknown import unknown_event, unknown_words
from antiphon.vocabulary.values import StoredText

Form = dict[str, Any]
"""An event as plain JSON, with its `kind` and the fields that it had when it was written."""

PROGRAM = "antiphon"
"""The key in the versions of a query's first event that names the version of the recording program."""

Upgrader = Callable[[Form], Form]

UPGRADERS: dict[int, Upgrader] = {}
"""By version: converts an event of it to the next version. There are none before the first release."""

ReadText = Callable[[type, object], StoredText]


def decode_text(_type: type, text: object) -> StoredText:
    """Returns a `StoredText` from its plain form; msgspec calls it to decode one."""
    if isinstance(text, str):
        return StoredText(text)
    raise ValueError(f"Expected `str`, got `{type(text).__name__}`")


class EventReader:
    """Decodes the events of one catalog.

    Args:
        catalog: The known events.
        read_text: Returns the long text for its form in an event.
    """

    def __init__(
        self, catalog: Catalog = BUILT_IN, read_text: ReadText = decode_text
    ) -> None:
        self._catalog = catalog
        self._read_text = read_text
        self._decoder: msgspec.json.Decoder[Event] = msgspec.json.Decoder(
            prepared(catalog.union), dec_hook=read_text
        )

    def read(self, query_id: str, seq: int, version: int, body: bytes) -> Event:
        """Decodes an event; a kind that only an unloaded subscriber knows becomes an `UnknownEvent`.

        Raises:
            DecodeError: A field or the version is not of this vocabulary, it is no JSON, or the first event, which is
                the question, is of an unknown kind.
        """
        check_version(query_id, seq, version)
        try:
            if version < VERSION:
                body = msgspec.json.encode(upgraded(form_of(body), version))
            return self._decode(body, seq)
        except (
            msgspec.DecodeError,
            ValueError,
            RecursionError,
            OverflowError,
        ) as error:
            wrong = wrong_in(body, error, self._catalog)
            raise refusal(query_id, seq, wrong) from error

    def _with_texts(self, value: Any) -> Any:
        """Returns plain JSON with the long texts that it refers to."""
        if isinstance(value, list):
            return [self._with_texts(each) for each in value]
        if not isinstance(value, dict):
            return value
        if value.keys() == {"kept"} and self._read_text is not decode_text:
            return self._read_text(StoredText, value).text
        return {name: self._with_texts(each) for name, each in value.items()}

    def _decode(self, body: bytes, seq: int) -> Event:
        try:
            return self._decoder.decode(body)
        except msgspec.ValidationError as error:
            if seq > 1 and _unknown_kind(body, self._catalog):
                return unknown_event(self._with_texts(form_of(body)))
            if "Expected `float`, got `null`" not in str(error):
                raise
        # Numbers that JSON cannot express (NaN, infinity) were written as null, and read as 0.
        event = form_of(body)
        return self._decoder.decode(
            msgspec.json.encode(_numbered(event, self._catalog.by_kind[event["kind"]]))
        )


def form_of(body: bytes) -> Form:
    """Returns an event as plain JSON, no matter which fields it has.

    Raises:
        msgspec.DecodeError: It is no JSON object.
    """
    return msgspec.json.decode(body, type=prepared(Form))


def upgraded(
    event: Form,
    version: int,
    upgraders: Mapping[int, Upgrader] = UPGRADERS,
    current: int = VERSION,
) -> Form:
    """Returns an event of an older version in the form of the current one, through each version between them.

    Raises:
        msgspec.DecodeError: It does not have the form of its version.
    """
    try:
        for step in range(version, current):
            event = upgraders[step](event)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise msgspec.DecodeError(
            f"it is not of the form of vocabulary version {step} ({error!r})"
        ) from error
    return event


class _First(msgspec.Struct):
    """The one field of a trace's first event that names the recording program; the others may be unknown."""

    versions: tuple[tuple[str, str], ...] = ()


_first_decoder = msgspec.json.Decoder(prepared(_First))


def program_of(first: bytes) -> str:
    """Returns the version of the program that recorded a trace, from its first event; empty if that does not say."""
    try:
        return dict(_first_decoder.decode(first).versions).get(PROGRAM, "")
    except (msgspec.DecodeError, RecursionError):
        return ""


def check_version(query_id: str, seq: int, version: int) -> None:
    """Refuses an event of a version that this program cannot read."""
    if version > VERSION:
        raise refusal(
            query_id,
            seq,
            f"it was written by a newer Antiphon, with vocabulary version {version}",
        )
    if any(step not in UPGRADERS for step in range(version, VERSION)):
        raise refusal(
            query_id,
            seq,
            f"it was written with vocabulary version {version}, for which there is no reader here",
        )


def wrong_in(event: bytes, error: Exception, catalog: Catalog) -> str:
    """Explains why an event cannot be decoded: names an unknown kind, and repeats the words of `error` otherwise."""
    kind = _unknown_kind(event, catalog)
    return unknown_words(kind) if kind else str(error)


def _unknown_kind(event: bytes, catalog: Catalog) -> str:
    """Returns the kind of an event if the catalog does not hold it; empty if it does, or if there is no kind."""
    try:
        kind = _tag_decoder.decode(event).kind
    except (msgspec.DecodeError, RecursionError):
        return ""
    return "" if kind in catalog.by_kind else kind


def refusal(query_id: str, seq: int, wrong: str) -> DecodeError:
    """Returns the error for an unreadable event: its place, the problem, and the versions that this program reads."""
    # If not even the head of the event is readable, its place is unknown.
    place = str(seq) if seq else "unknown"
    return DecodeError(
        f"trace {query_id}, seq {place}: {wrong}; this program reads vocabulary version {VERSION}, so read the trace "
        "with the program that wrote it, or take it as it is with `antiphon traces export`",
        seq,
    )


class _Tag(msgspec.Struct):
    """The field of a refused event that holds the kind it claims."""

    kind: str = ""


_tag_decoder = msgspec.json.Decoder(prepared(_Tag))


def _numbered(plain: Form, struct: type[msgspec.Struct]) -> Form:
    """Returns the fields of an event or value with 0 for each missing number that the declared type requires."""
    hints = get_type_hints(struct, include_extras=True)
    numbered: Form = {}
    for name, value in plain.items():
        if name in hints:
            value = _number_in(value, leaves_of(hints[name]))
        # The tag is no field, and is kept.
        numbered[name] = value
    return numbered


def _number_in(value: Any, leaves: tuple[Leaf, ...]) -> Any:
    """Returns the value of a field, or of a list within it, with 0 for each missing number."""
    if value is None and _requires_number(leaves):
        return 0.0
    if isinstance(value, list):
        return [_number_in(each, leaves) for each in value]
    if isinstance(value, dict):
        for leaf in leaves:
            if leaf.is_struct:
                return _numbered(value, leaf.kind)
    return value


def _requires_number(leaves: tuple[Leaf, ...]) -> bool:
    kinds = {leaf.kind for leaf in leaves}
    return float in kinds and NoneType not in kinds
