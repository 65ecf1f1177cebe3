"""The identity of a tool call: one rule by which every component recognises a repeated call."""

from __future__ import annotations

import json
from functools import lru_cache

import msgspec

CallIdentity = tuple[str, str]
"""The tool's name and the canonical text of the arguments."""
WHY = "why"
"""The optional argument of every tool in which the model says what the call is for; it changes nothing."""


EFFECTS_NOTE = "Calling it changes something outside."
"""The end of the description of a tool with effects, so that no model and no rule calls it merely to look."""
MAX_NESTING = 100
"""The deepest nesting of lists and objects that a server or a model may send. The interpreter's own bound counts the
whole stack, so one part of the program would read a text that another refuses."""


def nests_too_deep(value: object, written: bytes) -> bool:
    """Returns True if JSON is nested deeper than the limit.

    Args:
        written: The text that `value` was read from.
    """
    # Nearly all JSON opens fewer brackets than the limit, and need not be walked.
    if written.count(b"[") + written.count(b"{") <= MAX_NESTING:
        return False
    level = [value]
    for _ in range(MAX_NESTING + 1):
        level = _parts_of(level)
    return bool(level)


def _parts_of(values: list[object]) -> list[object]:
    """Returns the parts of these lists and objects."""
    parts: list[object] = []
    for value in values:
        if isinstance(value, list):
            parts += value
        elif isinstance(value, dict):
            parts += value.values()
    return parts


# Several components ask about each call, and so does every replay.
@lru_cache(maxsize=1024)
def call_identity(name: str, arguments: str) -> CallIdentity:
    """Returns an identity that two calls share if and only if the tool would do the same for both.

    The order of the arguments, white space and `why` do not matter. No text at all is the empty object, a null is an
    argument that was not given, and `1.0` is `1`. Arguments that were cut off or are not JSON have no meaning to
    compare: they are equal only if their texts are.

    Args:
        arguments: The JSON object as the model wrote it.
    """
    text = arguments.strip()
    if not text:
        return name, "{}"
    try:
        value = msgspec.json.decode(text)
        if nests_too_deep(value, text.encode()):
            return name, text
        if isinstance(value, dict):
            # A model that rewords its reason still makes the same call.
            value = {
                key: part
                for key, part in value.items()
                if key != WHY and part is not None
            }
        # The standard library's encoder: msgspec's refuses integers of more than 64 bits, which a model may write.
        return name, json.dumps(
            _canonical(value), sort_keys=True, separators=(",", ":")
        )
    except (msgspec.MsgspecError, RecursionError, ValueError):
        # ValueError: lone surrogates, and integers of thousands of digits.
        return name, text


def _canonical(value: object) -> object:
    """Writes every whole number as an integer, also within lists and objects."""
    # A model may write 1 in one round and 1.0 in the next, and tools treat both as the same number.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return list(map(_canonical, value))
    if isinstance(value, dict):
        return {key: _canonical(part) for key, part in value.items()}
    return value
