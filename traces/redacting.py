"""What must not be stored is blotted out of every text of an event, letter by letter, so that all offsets stay.

Decision 065 says where this is done, and why.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import fields, replace

from antiphon.traces.patterns import Patterns
from antiphon.vocabulary.events import ReasoningCompleted
from antiphon.vocabulary.values import Passage, StoredText

S = TypeVar("S", bound=msgspec.Struct)

EVENT_S = 0.2
"""Seconds that the texts of one event may take; what has not been looked through by then is blotted out whole."""

_REMEMBERED = 4_096

_IDS_AS_FACTS = "facts"
"""A field that holds facts in one event and their ids in another."""

_NO_TEXT = frozenset(
    {
        "id", "call_id", "call_ids", "tool_call_id", "tool_call_ids", "name", "failed", "succeeded", "substitute",
        "session_id", "parent", "fact", "fact_id", "merged", "like", "repeated", "what", "kind", "handler",
        "waiting_for", "repairs", "caching", "settings", "versions", "tools", "system", "tool_choice", "extra",
        "model", "reasoner", "stop_reason", "effort", "thinking", "usage",
        "for_call", "summary",
    }
)  # fmt: skip
"""Fields that name things: blotting them would take apart what belongs together."""

_PROTOCOL = frozenset({"type", "id", "name", "tool_use_id", "signature", "data", "cache_control", "media_type"})
"""The same, in the content blocks of the Messages API."""

Blot = Callable[[str], str]


class Redaction:
    """Blots out of texts and events whatever a pattern matches; empty, it changes nothing.

    Args:
        patterns: Regular expressions, each with what it is called in a refusal: a pattern may hold a secret itself.
        secrets: Texts to blot out as they stand.

    Raises:
        ConfigurationError: A pattern is no regular expression, matches nothing at all, or takes too long.
    """

    def __init__(self, patterns: Mapping[str, str] | None = None, secrets: Sequence[str] = ()) -> None:
        self._patterns = Patterns(patterns or {}, secrets)
        self._seen: dict[tuple[str, Within | None], str] = {}
        self._until = 0.0

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def event(self, event: S) -> S:
        """The event, or the same where nothing in it matches."""
        if not self._patterns:
            return event
        self._until = time.monotonic() + EVENT_S
        blotted = self._struct(event)
        if isinstance(blotted, ReasoningCompleted) and blotted is not event:
            return replace(blotted, content=_sliced(blotted.content, blotted.text.text))
        return blotted

    def text(self, text: str) -> str:
        """The text with every match blotted out."""
        self._until = time.monotonic() + EVENT_S
        return self._blotted(text)

    def _blotted(self, text: str) -> str:
        return self._patterns.blotted(text, self._until)

    def _struct(self, struct: S) -> S:
        changed: dict[str, object] = {}
        for name in _texts_of(type(struct)):
            value = getattr(struct, name)
            blotted = self._value(value, name)
            if blotted is not value:
                changed[name] = blotted
        if isinstance(struct, Passage) and "text" in changed:
            # The old one is a hash of the text, by which a short secret could be guessed.
            source, text = changed.get("source", struct.source), changed["text"]
            changed["id"] = hashlib.sha256(f"{source}\0{text}".encode()).hexdigest()[:32]
        return replace(struct, **changed) if changed else struct

    def _value(self, value: object, name: str) -> object:
        match value:
            case str():
                return value if name == _IDS_AS_FACTS else self._known(value, name)
            case StoredText(text=text):
                blotted = self._known(text, name)
                return value if blotted is text else StoredText(blotted)
            case tuple():
                blotteds = tuple(self._value(each, name) for each in value)
                return value if all(new is old for new, old in zip(blotteds, value, strict=True)) else blotteds
            case msgspec.Struct():
                return self._struct(value)
        return value

    def _known(self, text: str, name: str) -> str:
        """The same text comes again in briefing, request and next request, and is looked through once."""
        within = _WITHIN.get(name)
        key = (text, within)
        if key not in self._seen:
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            blotted = self._blotted(text) if within is None else self._in_json(text, within)
            self._seen[key] = text if blotted == text else blotted
        return self._seen[key]

    def _in_json(self, text: str, within: Within) -> str:
        try:
            plain = msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
            return self._blotted(text)  # as a cut-off reply leaves it
        blotted = within(plain, self._blotted)
        return text if blotted == plain else msgspec.json.encode(blotted).decode()


@cache
def _texts_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    """The fields that may hold text of the outside: no names of things, and nothing that can only be one of a few."""
    found: list[str] = []
    for field in fields(kind):
        bare = get_args(field.type)[0] if get_origin(field.type) is Annotated else field.type
        if field.name not in _NO_TEXT and get_origin(bare) is not Literal:
            found.append(field.name)
    return tuple(found)


def _values(plain: object, blot: Blot) -> object:
    """Any JSON, blotted, numbers and names of fields too."""
    match plain:
        case str():
            return blot(plain)
        case int() | float() if not isinstance(plain, bool):
            return plain if (said := str(plain)) == (blotted := blot(said)) else blotted
        case list():
            return [_values(each, blot) for each in plain]
        case dict():
            return {blot(key): _values(each, blot) for key, each in plain.items()}
    return plain


def _block(plain: object, blot: Blot) -> object:
    """A content block, blotted: what holds it together stays."""
    match plain:
        case str():
            return blot(plain)
        case list():
            return [_block(each, blot) for each in plain]
        case dict():
            return {
                key: each if key in _PROTOCOL else (_values if key == "input" else _block)(each, blot)
                for key, each in plain.items()
            }
    return plain


Within = Callable[[object, Blot], object]

_WITHIN: Mapping[str, Within] = {"content": _block, "arguments": _values}
"""Texts that are JSON: what stands within them is blotted, and they stay JSON."""


def _sliced(content: tuple[StoredText, ...], text: str) -> tuple[StoredText, ...]:
    """The blocks with their share of the blotted text: what is matched may go on from one block into the next."""
    sliced: list[StoredText] = []
    end = 0
    for kept in content:
        block = _text_block(kept.text)
        begin, end = end, end + len(block.get("text", ""))
        share = text[begin:end]
        same = block.get("text", "") == share
        sliced.append(kept if same else StoredText(msgspec.json.encode(block | {"text": share}).decode()))
    return tuple(sliced) if end == len(text) else content


def _text_block(text: str) -> dict[str, str]:
    """The block, where it is one of text; else nothing."""
    try:
        block = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return {}
    is_text = isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    return block if is_text else {}
