"""Passages of one lesson that overlap or touch become one passage, in which each sentence stands once.

Their place in the lesson (`Passage.start`) decides, so nothing is compared but what overlaps. The joined text is the
lesson's own, so that whatever is cited of it is still word for word what the lesson says.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Hashable

from msgspec.structs import replace

from antiphon.vocabulary.values import Passage, StoredText

_GAPS = ("", " ", "\n\n")
_WHITE = re.compile(r"\s")
MOST_GAP = len(_GAPS) - 1
"""Characters between two chunks that touch: the white space that the chunker takes off a chunk's end."""
MOST_CHARS = 2_400
"""Passages that touch are joined up to this length, about two chunks: a passage as long as a lesson is no passage.
Those that overlap are always joined, for no sentence is shown twice."""


def place_of(passage: Passage) -> Hashable:
    """What passages must share to be joined; None for one whose place is not known."""
    if passage.start is None or passage.kind != "passage":
        return None
    return passage.course, passage.lesson, passage.title, passage.source


def join(one: Passage, other: Passage) -> Passage | None:
    """Both as one passage; None where they neither touch nor overlap, or do not agree in what they share."""
    if one.start is None or other.start is None or place_of(one) != place_of(other):
        return None
    if other.start < one.start:
        one, other = other, one
    first, second = one.start or 0, other.start or 0
    text, more = one.text.text, other.text.text
    gap = second - (first + len(text))
    if gap > MOST_GAP or (gap >= 0 and len(text) + len(more) > MOST_CHARS):
        return None
    if gap < 0 and not _agree(text[second - first :], more):
        return None
    joined = text + _GAPS[max(gap, 0)] + more[max(-gap, 0) :]
    starts = sorted({*one.starts, *(second - first + start for start in other.starts)})
    return replace(
        one,
        id=_id(one, joined),
        text=StoredText(joined),
        starts=tuple(starts),
        score=max(one.score, other.score),
        link=one.link or other.link,
    )


def _agree(end: str, beginning: str) -> bool:
    """Whether the overlap is the same text in both; one may lie within the other, and white space is white space."""
    shared = min(len(end), len(beginning))
    return _WHITE.sub(" ", end[:shared]) == _WHITE.sub(" ", beginning[:shared])


def _id(passage: Passage, text: str) -> str:
    address = "\0".join((passage.source, passage.title or "", text))
    return hashlib.sha256(address.encode(errors="replace")).hexdigest()[:32]
