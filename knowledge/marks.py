"""Places in a file, found again for a part of a section's text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from antiphon.knowledge.values import Mark
from antiphon.vocabulary.values import Place


def marks_within(marks: Sequence[Mark], start: int, length: int) -> Sequence[Mark]:
    """Returns the marks that hold for a part of the text: the last one at or before it, and those within it."""
    starts = [mark.start for mark in marks]
    first = max(bisect_right(starts, start) - 1, 0)
    end = bisect_right(starts, start + length - 1)
    return marks[first:end]


def headings_of(marks: Sequence[Mark], start: int, length: int) -> str:
    """Returns the headings that a part of the text stands under, for the search by words."""
    headings: dict[str, None] = {}
    for mark in marks_within(marks, start, length):
        headings[mark.heading] = None
    return " ".join(headings)


def places_of(marks: Sequence[Mark], start: int) -> tuple[Place, ...]:
    """Returns the marks as places in a passage that begins at `start`, where the first of them holds too."""
    places = []
    for mark in marks:
        at = max(mark.start - start, 0)
        places.append(Place(start=at, name=mark.place, link=mark.link))
    return tuple(places)
