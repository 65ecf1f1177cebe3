"""Reads a server's JSON cheaply, into objects with valid Unicode and bounded nesting.

Repairs text that is not valid Unicode: JSON can spell half of a surrogate pair, and servers cut characters in two.
"""

from __future__ import annotations

import json
import re

import msgspec

from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.tool_calls import nests_too_deep

EXCERPT_BYTES = 1_000
"""More than an error message holds: the excerpt is cut again after keys were removed from it."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_decode = msgspec.json.Decoder().decode


def read_object(data: bytes) -> Json:
    """Reads `data` as a JSON object.

    Raises:
        ModelError: (`malformed`) It is not one.
    """
    try:
        value = _read(data)
    except ValueError as error:
        raise ModelError(
            "malformed", f"the server sent something that is no JSON: {excerpt(data)}"
        ) from error
    except RecursionError as error:
        raise _too_deep(data) from error
    if nests_too_deep(value, data):
        raise _too_deep(data)
    if not isinstance(value, dict):
        raise ModelError(
            "malformed", f"the server sent JSON that is no object: {excerpt(data)}"
        )
    return value


def _too_deep(data: bytes) -> ModelError:
    return ModelError(
        "malformed", f"the server sent JSON nested too deep: {excerpt(data)}"
    )


def _read(data: bytes) -> object:
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # The strict decoder above is several times faster, and hardly any event needs this lenient one.
        return read_leniently(data)


def excerpt(data: bytes) -> str:
    """Returns the beginning of `data`, fit for an error message."""
    return repr(data[:EXCERPT_BYTES].decode("utf-8", "replace"))


def read_leniently(data: bytes) -> object:
    """Reads JSON whose text is not entirely valid Unicode.

    Leaves a delta's own text unchanged: the next delta may bring the other half of its last character.

    Raises:
        ValueError: It is not JSON.
    """
    value = json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse_constant)
    if not isinstance(value, dict) or not isinstance(value.get("delta"), dict):
        return _with_valid_text(value)

    event: Json = {name: _with_valid_text(part) for name, part in value.items()}
    delta: Json = {}
    for name, part in value["delta"].items():
        if isinstance(part, str):
            delta[name] = part
        else:
            delta[name] = _with_valid_text(part)
    event["delta"] = delta
    return event


def valid_text(text: str) -> str:
    """Returns `text` with both halves of a surrogate pair joined, and each lone half replaced by U+FFFD."""
    # Both checks are for speed: nearly all texts are returned here unchanged.
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def as_object(text: str) -> Json | None:
    """Reads `text` as a JSON object; None if it is not one, or not a usable one."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(value, dict) or nests_too_deep(value, data):
        return None
    return value


def is_first_half(character: str) -> bool:
    """Returns True if the other half of the character is still to come."""
    return "\ud800" <= character <= "\udbff"


def _with_valid_text(value: object) -> object:
    if isinstance(value, str):
        return valid_text(value)
    if isinstance(value, list):
        return [_with_valid_text(part) for part in value]
    if isinstance(value, dict):
        return {
            valid_text(str(name)): _with_valid_text(part)
            for name, part in value.items()
        }
    return value


def _refuse_constant(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
