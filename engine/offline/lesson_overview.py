"""Sums a lesson up: from its beginning, its middle and its end, what tells most of what it is about; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from antiphon.engine.offline.excerpts import look, place_of, quote
from antiphon.engine.offline.task import Source
from antiphon.engine.offline.wire import Draft
from antiphon.language.evidence import Measures
from antiphon.language.extract import Excerpt

STRETCHES = 3
EXCERPT_CHARS = 450
"""Three of them are read in a minute; with longer ones no more of 47 lessons were summed up as wanted."""


class _Stretch(NamedTuple):
    """Sentences `first` to `end` (exclusive) of a source: its beginning, middle or end."""

    source: Source
    first: int
    end: int

    def chars(self, first: int, end: int) -> int:
        return len("".join(self.source.blocks[first:end]).strip())


def sum_lesson_up(sources: Sequence[Source], measures: Measures, draft: Draft) -> None:
    """Quotes an excerpt of each stretch of a lesson, in its order."""
    if not sources:
        return
    # What a lesson is about is what its title names, so that opening pleasantries are passed over.
    asked = f"What is {sources[0].title}?"
    for stretch in _stretches(sources):
        source = stretch.source
        draft.paragraph(f"{place_of(source, with_course=False)}: ")
        quote(_excerpt_of(stretch, asked, measures), source, draft)
    draft.doubt("medium")


def _stretches(sources: Sequence[Source]) -> list[_Stretch]:
    """Divides the passages into about three parts of a length, fewer of a short lesson, and returns the first three."""
    total = sum(_chars(source) for source in sources)
    length = max(total / STRETCHES, EXCERPT_CHARS)
    found: list[_Stretch] = []
    for source in sources:
        found += _divided(source, max(1, round(_chars(source) / length)))
    return found[:STRETCHES]


def _chars(source: Source) -> int:
    return len("".join(source.blocks))


def _divided(source: Source, parts: int) -> Iterator[_Stretch]:
    """Yields the parts of a source; of fewer sentences than parts each sentence is one."""
    length = _chars(source) / parts
    first = read = 0
    for at, block in enumerate(source.blocks):
        read += len(block)
        if read >= length or at + 1 == len(source.blocks):
            yield _Stretch(source, first, at + 1)
            first, read = at + 1, 0


def _excerpt_of(stretch: _Stretch, asked: str, measures: Measures) -> Excerpt:
    """Returns the run of a stretch that fits best, with what stands behind it, as far as there is room."""
    source, first, end = stretch
    blocks = source.blocks[first:end]
    found = look([source._replace(blocks=blocks)], asked, measures, limit=1)
    key, run = first, (first, first + 1)
    for excerpt in found.extraction.excerpts:
        key, run = excerpt.key + first, (excerpt.first + first, excerpt.end + first)
    begins, ends = run
    while ends < end and stretch.chars(begins, ends + 1) <= EXCERPT_CHARS:
        ends += 1
    return Excerpt(0, begins, ends, key, 1.0)
