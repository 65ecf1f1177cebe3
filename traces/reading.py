"""Reads events in whichever version of the vocabulary they were written, or says why this program cannot.

A version of the vocabulary that was released stays readable: when `VERSION` is raised, `UPGRADERS` gains the function
that turns an event of the version before into the new form, and `tests/traces/versions/` a trace of the new version.
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
"""The name under which the versions of a query's first event list the program that recorded it."""

Upgrader = Callable[[Form], Form]

UPGRADERS: dict[int, Upgrader] = {}
"""By version: turns an event of it into the form of the next version. Before the first release there is none."""

ReadText = Callable[[type, object], StoredText]


def decode_text(_type: type, text: object) -> StoredText:
    """Returns a `StoredText` from its plain form, as msgspec asks for it."""
    if isinstance(text, str):
        return StoredText(text)
    raise ValueError(f"Expected `str`, got `{type(text).__name__}`")


class EventReader:
    """Decodes the events of one catalog.

    Args:
        catalog: The events that there are.
        read_text: Makes a long text of the form in which it is in an event.
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
        """Decodes an event; one of a kind that only a subscriber knows which is not loaded is an `UnknownEvent`.

        Raises:
            DecodeError: A field or its version is not of this vocabulary, it is no JSON, or the first event, which is
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
        # What JSON cannot say (NaN, infinity) was written as null; as a score or a time it counts for nothing.
        event = form_of(body)
        return self._decoder.decode(
            msgspec.json.encode(_numbered(event, self._catalog.by_kind[event["kind"]]))
        )


def form_of(body: bytes) -> Form:
    """Returns an event as plain JSON, whatever its fields are.

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
        msgspec.DecodeError: It is not of the form that its version has.
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
    """The field of a trace's first event that says who recorded it, whatever the others are."""

    versions: tuple[tuple[str, str], ...] = ()


_first_decoder = msgspec.json.Decoder(prepared(_First))


def program_of(first: bytes) -> str:
    """Returns the version of the program that recorded a trace, by its first event; empty if it does not say."""
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
    """Explains why an event cannot be decoded: an unknown kind by its name, anything else in the words of `error`."""
    kind = _unknown_kind(event, catalog)
    return unknown_words(kind) if kind else str(error)


def _unknown_kind(event: bytes, catalog: Catalog) -> str:
    """Returns the kind of an event that the catalog does not hold; empty if it does, or if there is none."""
    try:
        kind = _tag_decoder.decode(event).kind
    except (msgspec.DecodeError, RecursionError):
        return ""
    return "" if kind in catalog.by_kind else kind


def refusal(query_id: str, seq: int, wrong: str) -> DecodeError:
    """Returns the error for an event that cannot be read: where it is, what is wrong, what this program reads."""
    # If not even the head of the event could be read, its place is not known.
    place = str(seq) if seq else "unknown"
    return DecodeError(
        f"trace {query_id}, seq {place}: {wrong}; this program reads vocabulary version {VERSION}, so read the trace "
        "with the program that wrote it, or take it as it is with `antiphon traces export`",
        seq,
    )


class _Tag(msgspec.Struct):
    """The field of a refused event that gives the kind it claims to be."""

    kind: str = ""


_tag_decoder = msgspec.json.Decoder(prepared(_Tag))


def _numbered(plain: Form, struct: type[msgspec.Struct]) -> Form:
    """Returns the fields of an event or value with 0 for each missing number that the declared type requires."""
    hints = get_type_hints(struct, include_extras=True)
    numbered: Form = {}
    for name, value in plain.items():
        if name in hints:
            value = _number_in(value, leaves_of(hints[name]))
        # The tag is no field, and stays as it is.
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
