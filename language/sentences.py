"""Sentences as offsets into their text, so that requests, citations and the store hold the same characters."""

from __future__ import annotations

import re

import sentencex

_CLOSING = re.compile(r"(?:\*{1,3}|_{1,3})(?:\s+|$)")
"""Marks that close bold or italic type in Markdown: unlike opening marks, they have no text right after them."""
_NUMBER = re.compile(r"(?:\A|\n)[ \t]{0,9}[0-9]{1,3}[.)][ \t]{1,9}\Z")
"""The number of a list item, at the end of a text: it belongs to the text after it."""
_LONGEST_NUMBER = 24


def sentence_starts(text: str, language: str = "en") -> tuple[int, ...]:
    """Returns the offsets in characters at which the sentences of `text` begin, the first being 0.

    The spans cover the text without gaps: white space belongs to the sentence before it, and a span of only white space
    is joined to its neighbour. The boundaries are sentencex's (https://github.com/wikimedia/sentencex), moved behind
    marks that close bold or italic type.
    """
    starts = [0]
    position = 0
    blank_so_far = True
    for part in sentencex.segment(language, text):
        blank = not part.strip()
        if position and not blank and not blank_so_far and not _in_item(text, position):
            starts.append(_behind_closing(text, position))
        blank_so_far = blank_so_far and blank
        position += len(part)
    if starts[-1] == len(text):
        starts.pop()
    return tuple(starts) or (0,)


def _in_item(text: str, at: int) -> bool:
    """Returns True right after the number of a list item."""
    return _NUMBER.search(text, max(at - _LONGEST_NUMBER, 0), at) is not None


def _behind_closing(text: str, at: int) -> int:
    closing = _CLOSING.match(text, at)
    if closing is None:
        return at
    return closing.end()


def sentences(text: str) -> list[str]:
    """Returns the sentences of `text`; joined, they are the whole text."""
    ends = (*sentence_starts(text)[1:], len(text))
    parts: list[str] = []
    start = 0
    for end in ends:
        parts.append(text[start:end])
        start = end
    return parts
