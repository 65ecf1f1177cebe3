"""Redacts the texts of events letter by letter, so that all offsets stay valid.

The marks on the fields (vocabulary/fields.py) decide which texts it searches: a text without a mark counts as
untrusted. docs/design/trace-store.md explains at which places events are redacted, and why there.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar, cast, get_type_hints

import msgspec
from msgspec.structs import replace

from antiphon.traces.codec import plain_event
from antiphon.traces.patterns import Patterns
from antiphon.vocabulary.events import ReasoningCompleted, SummaryCompleted
from antiphon.vocabulary.fields import Leaf, Mark, leaves_of
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Passage, StoredText

S = TypeVar("S", bound=msgspec.Struct)

EVENT_S = 0.2
"""Seconds for all texts of one event; texts that have not been searched by then are masked whole."""

_REMEMBERED = 4_096

_BLOCK_FIELDS = frozenset(
    {
        "type",
        "id",
        "name",
        "tool_use_id",
        "signature",
        "data",
        "cache_control",
        "media_type",
    }
)
"""Structural fields of a content block, which the Messages API would refuse with other values:
https://docs.anthropic.com/en/api/messages."""

Redact = Callable[[str], str]


class Redaction:
    """Masks keys of the service, and everything that a pattern matches, in texts and events.

    Args:
        patterns: Regular expressions by the names that refusals use, because a pattern may hold a secret itself.
        secrets: Texts to mask literally.

    Raises:
        ConfigurationError: A pattern is no regular expression, matches nothing at all, or takes too long.
    """

    def __init__(
        self, patterns: Mapping[str, str] | None = None, secrets: Sequence[str] = ()
    ) -> None:
        if patterns is None:
            patterns = {}
        self._patterns = Patterns(patterns, secrets)
        self._seen: dict[tuple[str, Mark], str] = {}
        self._until = 0.0

    def event(self, event: S) -> S:
        """Returns the redacted event: the same object if nothing in it matches."""
        # Hardly any event holds a match. `map` is lazy: the event is encoded only if its bytes can decide.
        if self.needs_none(map(plain_event, (event,)), ()):
            return event
        self._until = time.monotonic() + EVENT_S
        redacted = self._struct(event)
        if redacted is not event and isinstance(
            redacted, ReasoningCompleted | SummaryCompleted
        ):
            content = _aligned(redacted.content, redacted.text.text)
            return cast(S, replace(redacted, content=content))
        return redacted

    def needs_none(self, bodies: Iterable[bytes], texts: Iterable[str]) -> bool:
        """Returns True if packed events and their long texts surely hold nothing to redact."""
        return self._patterns.are_absent(bodies, texts)

    def text(self, text: str) -> str:
        """Returns the redacted text."""
        self._until = time.monotonic() + EVENT_S
        return self._searched(text)

    def _searched(self, text: str) -> str:
        return self._patterns.redacted(text, self._until)

    def _struct(self, struct: S) -> S:
        changed: dict[str, Any] = {}
        for name, mark in redacted_fields(type(struct)):
            value = getattr(struct, name)
            redacted = self._value(value, mark)
            if redacted is not value:
                changed[name] = redacted
        if not changed:
            return struct
        if isinstance(struct, Passage) and "text" in changed:
            # The old id is a hash of the text, from which a short secret could be guessed.
            source, text = changed.get("source", struct.source), changed["text"].text
            changed["id"] = hashlib.sha256(f"{source}\0{text}".encode()).hexdigest()[
                :32
            ]
        return replace(struct, **changed)

    def _value(self, value: object, mark: Mark) -> object:
        """Returns the same object if nothing changed, by which the callers know."""
        match value:
            case str():
                return self._text(value, mark)
            case StoredText(text=text):
                redacted = self._text(text, mark)
                if redacted is not text:
                    return StoredText(redacted)
            case tuple():
                return self._tuple(value, mark)
            case msgspec.Struct():
                return self._struct(value)
            case list() | dict():
                # An event of an unknown kind has no marks, so all of its JSON is redacted.
                redacted = _redacted_json(value, self._searched)
                if redacted != value:
                    return redacted
        return value

    def _tuple(self, values: tuple[object, ...], mark: Mark) -> tuple[object, ...]:
        items: list[object] = []
        changed = False
        for value in values:
            redacted = self._value(value, mark)
            items.append(redacted)
            changed = changed or redacted is not value
        if not changed:
            return values
        return tuple(items)

    def _text(self, text: str, mark: Mark) -> str:
        """Returns `text` itself if nothing matches, even if the cache holds an equal text.

        The same text occurs in briefing, request and next request, and is searched once.
        """
        if mark is Mark.NAME:
            return text
        redacted = self._seen.get((text, mark))
        if redacted is None:
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            redacted = self._within(text, mark)
            self._seen[text, mark] = redacted
        if redacted == text:
            return text
        return redacted

    def _within(self, text: str, mark: Mark) -> str:
        """Redacts a text by its mark: JSON stays JSON."""
        if mark is Mark.UNTRUSTED:
            return self._searched(text)
        try:
            plain = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return self._searched(text)  # such as the end of a cut-off reply
        walk = _redacted_json if mark is Mark.JSON else _redacted_block
        redacted = walk(plain, self._searched)
        # Unchanged text keeps its bytes: encoding it again might write it differently.
        if redacted == plain:
            return text
        return msgspec.json.encode(redacted).decode()


# Bounded, because a trace from a file may bring classes of its own.
@lru_cache(maxsize=512)
def redacted_fields(struct: type[msgspec.Struct]) -> tuple[tuple[str, Mark], ...]:
    """Returns the fields that hold texts or values, each with the mark that decides how its texts are redacted.

    Names are left out, because redaction does not change them. `Mark.NAME` is the mark of nested values, whose own
    fields are searched.
    """
    hints = get_type_hints(struct, include_extras=True)
    found: list[tuple[str, Mark]] = []
    for name in struct.__struct_fields__:
        mark = _field_mark(leaves_of(hints[name]))
        if mark is not None:
            found.append((name, mark))
    return tuple(found)


def _field_mark(leaves: Sequence[Leaf]) -> Mark | None:
    """Returns the mark by which a field is redacted; None for one that holds neither texts nor values."""
    marks: set[Mark] = set()
    holds_values = False
    for leaf in leaves:
        if leaf.holds_text:
            marks.add(_text_mark(leaf))
        if leaf.is_struct:
            holds_values = True
    if len(marks) > 1:
        # A tuple of a name and a text, say, gets the safer treatment of the two.
        return Mark.UNTRUSTED
    if marks and (marks != {Mark.NAME} or holds_values):
        return marks.pop()
    if holds_values:
        return Mark.NAME
    return None


def _text_mark(leaf: Leaf) -> Mark:
    """Returns the mark by which a text is redacted; one without any, or with several, counts as untrusted."""
    kinds = leaf.marks & {Mark.UNTRUSTED, Mark.CONTENT_BLOCK, Mark.JSON, Mark.NAME}
    if len(kinds) != 1:
        return Mark.UNTRUSTED
    return next(iter(kinds))


def _redacted_json(plain: Any, redact: Redact) -> Any:
    """Redacts any JSON, numbers and names of fields too."""
    match plain:
        case str():
            return redact(plain)
        case int() | float() if not isinstance(plain, bool):
            digits = str(plain)
            redacted = redact(digits)
            # A number without a match stays a number.
            if redacted != digits:
                return redacted
        case list():
            return [_redacted_json(each, redact) for each in plain]
        case dict():
            return {
                redact(key): _redacted_json(value, redact)
                for key, value in plain.items()
            }
    return plain


def _redacted_block(plain: Any, redact: Redact) -> Any:
    """Redacts a content block, except for its structural fields."""
    match plain:
        case str():
            return redact(plain)
        case list():
            return [_redacted_block(each, redact) for each in plain]
        case dict():
            return _redacted_fields_of(plain, redact)
    return plain


def _redacted_fields_of(block: dict[str, Any], redact: Redact) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in block.items():
        if name in _BLOCK_FIELDS:
            fields[name] = value
        elif name == "input":
            # A tool's input is the model's own JSON, so its fields are not those of a block.
            fields[name] = _redacted_json(value, redact)
        else:
            fields[name] = _redacted_block(value, redact)
    return fields


def _aligned(content: tuple[StoredText, ...], text: str) -> tuple[StoredText, ...]:
    """Cuts the redacted text of a reply into its blocks, because a match may span several blocks."""
    aligned: list[StoredText] = []
    end = 0
    for stored in content:
        block = _text_block(stored.text)
        original = block.get("text", "")
        begin = end
        end += len(original)
        share = text[begin:end]
        if original == share:
            aligned.append(stored)
        else:
            aligned.append(
                StoredText(msgspec.json.encode(block | {"text": share}).decode())
            )
    # Blocks that do not make up the text, as in a foreign event, cannot be aligned.
    if end != len(text):
        return content
    return tuple(aligned)


class _TextBlock(msgspec.Struct, tag_field="type", tag="text"):
    """A block of text, with the fields needed here."""

    text: str


_text_blocks = msgspec.json.Decoder(prepared(_TextBlock))


def _text_block(text: str) -> dict[str, str]:
    """Returns the block as a dictionary; an empty one if it is no block of text."""
    try:
        _text_blocks.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    block: dict[str, str] = msgspec.json.decode(text)
    return block
