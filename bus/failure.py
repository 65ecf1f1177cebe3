"""An exception in words that may stand in a trace: bounded, without a traceback, without a key."""

from __future__ import annotations

import re

_MAX_CHARACTERS = 500
_SECRET = re.compile(r"\b(?:sk-[\w-]{8,}|(?:Bearer|Basic)\s+\S+)|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)", re.IGNORECASE)


def in_words(error: BaseException) -> str:
    """`Type: message`, with API keys, authorisation headers and passwords in addresses blotted out."""
    # Cut before searching too: the message may be as long as a hostile server likes.
    message = _SECRET.sub("[hidden]", str(error)[: 4 * _MAX_CHARACTERS])
    return f"{type(error).__name__}: {message}"[:_MAX_CHARACTERS]
