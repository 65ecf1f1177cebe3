"""Finds tool results that are not results: errors and empty lists returned by tools that should have failed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from antiphon.dispatcher import NOTHING
from antiphon.history.suspicion.reading import (
    READ_CHARS,
    Finding,
    Reading,
    Search,
    quoted,
)

_ERROR = re.compile(
    r"\W*(?:(?:[A-Z]\w+ ){0,2}\w*(?:[Ee]rror|ERROR|[Ee]xception)(?:\s*[:(]|\s+\d|\W*$)"
    r"|(?:HTTP\W*)?(?:[Ss]tatus\W*)?(?:[Cc]ode\W*)?[45]\d\d(?:\W*$|\s+[A-Z])"
    r"|Traceback\b|(?:[Ff]ailed|[Uu]nable) to\b|[Rr]equest failed\b)"
)
"""The beginning of a text that reports a failure."""
_TOLD_IN = ("error", "errors", "exception", "traceback")
"""Fields in which an API reports a failure …"""
_STATUS = ("status", "status_code", "statuscode", "code")
"""… and of its status."""
FIRST_ERROR_STATUS = 400
LONGEST_ERROR_CHARS = 500
"""A longer text that begins like this is merely about errors."""


def poor_results(reading: Reading) -> Iterator[Finding]:
    """Yields the results that report a failure or are empty."""
    for search in reading.searches:
        text = _text(search)
        name, seq = search.found.event.name, search.found.seq
        if _is_error(text):
            said = f"{name} brought an error as its result: {quoted(text)}."
            yield Finding("tool_error", said, seq)
        elif _is_empty(text):
            said = f"{name} brought an empty result: {quoted(text)}."
            yield Finding("tool_empty", said, seq)


def _text(search: Search) -> str:
    """Returns the output of a user's own tool; empty for passages of courses, which may be about errors."""
    passages = search.found.event.passages
    if any(passage.kind != "text" for passage in passages):
        return ""
    texts = [passage.text.text for passage in passages]
    return "\n".join(texts) or search.found.event.output.text


def _is_error(text: str) -> bool:
    if len(text) > LONGEST_ERROR_CHARS:
        return False
    read = _read(text)
    if isinstance(read, dict):
        fields = {str(name).lower(): value for name, value in read.items()}
        return any(fields.get(name) for name in _TOLD_IN) or _has_error_status(fields)
    return _ERROR.match(read if isinstance(read, str) else text) is not None


def _has_error_status(fields: dict[str, object]) -> bool:
    for name in _STATUS:
        status = fields.get(name)
        if isinstance(status, int) and status >= FIRST_ERROR_STATUS:
            return True
    return fields.get("ok") is False or fields.get("success") is False


def _is_empty(text: str) -> bool:
    """Returns True for an empty text, and for JSON with nothing but zeros and empty lists."""
    if text.strip() == NOTHING:
        return True
    read = _read(text)
    if isinstance(read, dict):
        return not any(read.values())
    return read is None or (isinstance(read, list) and not any(read))


def _read(text: str) -> object:
    """Returns the value of a JSON text; the text itself if it is not JSON."""
    try:
        read: object = json.loads(text[:READ_CHARS])
    # A tool may write anything, even nested too deep to read.
    except (ValueError, RecursionError):
        return text
    return read
