"""Text that is no valid Unicode, made valid: JSON can spell half of a surrogate pair, and servers cut characters."""

from __future__ import annotations

import json
import re

from antiphon.vocabulary.ports import Json

_HALF = re.compile("[\ud800-\udfff]")


def mended(text: str) -> str:
    """`text` with both halves of a pair joined, and each lone half replaced by U+FFFD."""
    if text.isascii() or not _HALF.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def is_first_half(character: str) -> bool:
    """Whether the other half of the character is still to come."""
    return "\ud800" <= character <= "\udbff"


def read_leniently(data: bytes) -> object:
    """JSON whose text is not all valid Unicode; a delta's text is left as it is, the next one may complete it.

    Raises:
        ValueError: It is no JSON.
    """
    value = json.loads(data.decode("utf-8", "replace"), parse_constant=_refuse)
    delta = value.get("delta") if isinstance(value, dict) else None
    if not isinstance(delta, dict):
        return _mend(value)
    texts: Json = {name: part if isinstance(part, str) else _mend(part) for name, part in delta.items()}
    return {name: texts if name == "delta" else _mend(part) for name, part in value.items()}


def _mend(value: object) -> object:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, list):
        return [_mend(part) for part in value]
    if isinstance(value, dict):
        return {mended(str(name)): _mend(part) for name, part in value.items()}
    return value


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")
