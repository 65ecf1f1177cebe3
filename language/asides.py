"""Takes out of a message what only gives its reason: "since two of my colleagues would like to enrol"; pure.

Such a clause speaks of the person who asks, and of nothing that is asked.
"""

from __future__ import annotations

import re

READ_CHARS = 2_000
_CONJUNCTION = r"(?:so that|in order that|since|as|because|given that|now that)"
_OF_ASKER = r"(?:[\w'\u2019]+ ){0,3}(?:i|i['\u2019]\w+|we|my|our)\b"
_REASON_BEHIND = re.compile(
    rf",\s*{_CONJUNCTION}\s+{_OF_ASKER}[^.;?!\n]*", re.IGNORECASE
)
_REASON_IN_FRONT = re.compile(
    rf"(?:^|(?<=[.?!] )){_CONJUNCTION}\s+{_OF_ASKER}[^.,;?!\n]*,\s*", re.IGNORECASE
)
_PURPOSE_IN_FRONT = re.compile(
    r"(?:^|(?<=[.?!] ))for (?:my|our)\s+[^.,;?!\n]{1,60}?(?:,\s*|\s+(?=(?:i|we)\b))",
    re.IGNORECASE,
)
_COUNTED_IN = re.compile(
    r",\s*(?:the\s+)?\w+ (?:included|excluded)\b|,?\s*including the introduction\b",
    re.IGNORECASE,
)
_SAID_AFTERWARDS = re.compile(
    r"(?<=[?.!])\s+(?:i|we|my|our)\b(?! (?:mean|meant|want|need|ask))[^.;?!\n]*[.!]?\s*$",
    re.IGNORECASE,
)


def without_reasons(question: str) -> str:
    """Returns the question without the clauses in which the person who asks says why."""
    text = question[:READ_CHARS]
    for pattern in (
        _REASON_BEHIND,
        _REASON_IN_FRONT,
        _PURPOSE_IN_FRONT,
        _COUNTED_IN,
        _SAID_AFTERWARDS,
    ):
        text = pattern.sub("", text)
    return text.strip() or question
