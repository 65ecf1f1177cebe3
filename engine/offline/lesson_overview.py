"""Sums a lesson up: what it announces, and what holds most of its own words; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from antiphon.engine.offline.excerpts import end_of_room, look, place_of, quote
from antiphon.engine.offline.task import Source
from antiphon.engine.offline.wire import Draft
from antiphon.language.evidence import LEAST_WEIGHT, Measures, Weigh, is_light
from antiphon.language.extract import Excerpt
from antiphon.language.words import terms

MOST_EXCERPTS = 4
EXCERPT_CHARS = 420
"""Four of them are read in a minute; fewer and longer ones say less of a lesson (docs/decisions/264)."""
_LEAST_CHARS = 250
"""A shorter run is quoted only as the first: it holds few words of a lesson whatever it says."""
_MOST_SENTENCES = 400
_MOST_IN_A_RUN = 12
"""Bounds for text that is cut into very many sentences: each run of them is weighed."""

# "In this lesson you will learn …", "So the question for this whole lesson is …", "Today we're going to …".
_ANNOUNCES = re.compile(
    r"\b(?:(?:in|for|during) this (?:\w+ )?|(?:this|today['\u2019]s) )(?:lesson|lecture|video|session)\b"
    r"|\btoday,? (?:we|I|it|you)\b",
    re.IGNORECASE,
)


class _Stretch(NamedTuple):
    """Sentences `first` to `end` (exclusive) of one of the sources.

    Attributes:
        key: The sentence that it was chosen for; None where that is all of them.
    """

    source: int
    first: int
    end: int
    key: int | None = None

    def touches(self, other: _Stretch) -> bool:
        if self.source != other.source:
            return False
        return self.first < other.end and other.first < self.end


class _Sentence(NamedTuple):
    """A sentence by what it holds, and by how long it is."""

    terms: frozenset[str]
    chars: int


def sum_lesson_up(sources: Sequence[Source], measures: Measures, draft: Draft) -> None:
    """Quotes where a lesson says what it is about, and then what holds most of the words that it comes back to."""
    if not sources:
        return
    first = _announced(sources) or _on_title(sources, measures)
    lesson = _Lesson(sources, measures.weigh)
    for stretch in _in_order(lesson.with_most_words(first), first):
        source = sources[stretch.source]
        draft.paragraph(f"{place_of(source, with_course=False)}: ")
        quote(lesson.excerpt(stretch), source, draft)
    draft.doubt("medium")


def _in_order(stretches: Sequence[_Stretch], first: _Stretch) -> list[_Stretch]:
    """Returns stretches of one source in its order; of several, that which says what the lesson is about begins."""

    def place(stretch: _Stretch) -> tuple[bool, _Stretch]:
        return stretch.source != first.source, stretch

    return sorted(stretches, key=place)


def _announced(sources: Sequence[Source]) -> _Stretch | None:
    """Returns what follows on the first sentence in which the lesson says what it is about."""
    found: list[tuple[int, int]] = []
    for number, source in enumerate(sources):
        for at, sentence in enumerate(source.blocks[:_MOST_SENTENCES]):
            if _ANNOUNCES.search(sentence):
                found.append((at, number))
                break
    if not found:
        return None
    # Passages come in the order in which they were found: where a lesson begins is not known.
    at, number = min(found)
    return _going_on(_Stretch(number, at, at + 1, key=at), sources)


def _on_title(sources: Sequence[Source], measures: Measures) -> _Stretch:
    """Returns what is most like the lesson's title."""
    asked = f"What is {sources[0].title}?"
    stretch = _Stretch(0, 0, 1, key=0)
    for excerpt in look(sources, asked, measures, limit=1).extraction.excerpts:
        passage, first, end, key, _ = excerpt
        stretch = _Stretch(passage, first, end, key)
    return _going_on(stretch, sources)


def _going_on(stretch: _Stretch, sources: Sequence[Source]) -> _Stretch:
    """Returns a stretch with what is said next, as far as there is room."""
    blocks = sources[stretch.source].blocks
    end = end_of_room(blocks, stretch.first, stretch.end, EXCERPT_CHARS)
    return stretch._replace(end=end)


class _Lesson:
    """The sentences of a lesson, and how much each of its words tells of it: a rare one that it often uses the most."""

    def __init__(self, sources: Sequence[Source], weigh: Weigh | None) -> None:
        self._sources = [_sentences_of(source) for source in sources]
        self._worth = _worth([each for row in self._sources for each in row], weigh)

    def with_most_words(self, first: _Stretch) -> list[_Stretch]:
        """Returns a stretch and further ones, each of which adds most of the words that are missing."""
        stretches = [first]
        held = set(self._terms_in(first))
        while len(stretches) < MOST_EXCERPTS:
            best = self._adding_most(held, stretches)
            if best is None:
                break
            stretches.append(best)
            held |= self._terms_in(best)
        return stretches

    def excerpt(self, stretch: _Stretch) -> Excerpt:
        """Returns a stretch as an excerpt, its key the sentence that it was chosen for, or that tells most."""
        row = self._sources[stretch.source]

        def told(at: int) -> float:
            return self._sum(row[at].terms)

        key = stretch.key
        if key is None:
            key = max(range(stretch.first, stretch.end), key=told)
        return Excerpt(stretch.source, stretch.first, stretch.end, key, 1.0)

    def _adding_most(
        self, held: set[str], chosen: Sequence[_Stretch]
    ) -> _Stretch | None:
        best: _Stretch | None = None
        most = 0.0
        for stretch in self._stretches():
            added = self._sum(self._terms_in(stretch) - held)
            if added > most and not any(map(stretch.touches, chosen)):
                best, most = stretch, added
        return best

    def _stretches(self) -> Iterator[_Stretch]:
        """Yields every run of sentences that is neither too short nor too long."""
        for number, row in enumerate(self._sources):
            for first in range(len(row)):
                yield from self._from(number, first)

    def _from(self, number: int, first: int) -> Iterator[_Stretch]:
        row = self._sources[number]
        chars = 0
        for end in range(first + 1, min(first + _MOST_IN_A_RUN, len(row)) + 1):
            chars += row[end - 1].chars
            if chars > EXCERPT_CHARS and end > first + 1:
                return
            if chars >= _LEAST_CHARS:
                yield _Stretch(number, first, end)

    def _terms_in(self, stretch: _Stretch) -> frozenset[str]:
        row = self._sources[stretch.source][stretch.first : stretch.end]
        return frozenset[str]().union(*[sentence.terms for sentence in row])

    def _sum(self, held: frozenset[str]) -> float:
        # Sorted, because a total of fractions depends on their order, and sets have none.
        return sum(self._worth[term] for term in sorted(held))


def _sentences_of(source: Source) -> list[_Sentence]:
    read = source.blocks[:_MOST_SENTENCES]
    return [_Sentence(frozenset(terms(each)), len(each)) for each in read]


def _worth(sentences: Sequence[_Sentence], weigh: Weigh | None) -> dict[str, float]:
    """Returns what each term is worth: how many sentences hold it, times how rare it is elsewhere."""
    worth: dict[str, float] = {}
    weights: dict[str, float] = {}
    for sentence in sentences:
        for term in sentence.terms:
            if term not in weights:
                weights[term] = _weight(term, weigh)
            worth[term] = worth.get(term, 0.0) + weights[term]
    return worth


def _weight(term: str, weigh: Weigh | None) -> float:
    if is_light(term) or term.isdigit():
        return 0.0
    if weigh is None:
        return 1.0
    return max(weigh(term), LEAST_WEIGHT)
