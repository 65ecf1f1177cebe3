"""Makes the passages of a search: spans of sentences with their text, source and the reasons for finding them."""

from __future__ import annotations

import msgspec
import numpy as np

from antiphon.knowledge.candidates import Wanted
from antiphon.knowledge.catalogue_tables import term_hash
from antiphon.knowledge.chunking import passage_id
from antiphon.knowledge.scoring import SentenceScores
from antiphon.knowledge.selecting import Span
from antiphon.knowledge.stretches import SentenceRow
from antiphon.knowledge.vectors import Flags
from antiphon.language.words import terms, words
from antiphon.vocabulary.values import LessonPart, Passage, Signals, StoredText


def banned(row: SentenceRow, wanted: Wanted) -> Flags:
    """Returns a flag for each sentence that may not be chosen: outside course or lesson, or known already."""
    outside = []
    for stretch in row.stretches:
        place = stretch.place
        other = wanted.course not in (None, place.course)
        outside.append(other or wanted.lesson not in (None, place.lesson))
    closed: Flags = np.array(outside, dtype=bool)[row.stretch]
    for passage in wanted.known:
        if passage.start is not None:
            closed |= _within(row, passage, passage.start)
    return closed


def _within(row: SentenceRow, passage: Passage, start: int) -> Flags:
    """Returns a flag for each sentence that is in a passage, whole or in part."""
    found: Flags = np.zeros(len(row), dtype=bool)
    end = start + len(passage.text.text)
    address = (passage.course, passage.lesson, passage.title)
    for number, stretch in enumerate(row.stretches):
        place = stretch.place
        if address == (place.course, place.lesson, place.title or None):
            same = row.stretch == number
            before_end = row.starts + stretch.start < end
            found |= same & before_end & (row.ends + stretch.start > start)
    return found


class Asked:
    """The words of a query in their own form, with the hashes of their stems."""

    def __init__(self, query: str) -> None:
        self._hashes = {word: set(map(term_hash, terms(word))) for word in words(query)}

    def matched(self, span: Span, row: SentenceRow) -> tuple[str, ...]:
        """Returns the query's words that the sentences hold."""
        places, hashes = row.terms
        first, end = np.searchsorted(places, (span.first, span.last + 1))
        held = set(hashes[first:end].tolist())
        return tuple(word for word, stems in self._hashes.items() if held & stems)


def passage_of(
    asked: Asked, span: Span, row: SentenceRow, scores: SentenceScores
) -> Passage:
    """Makes a passage from a span: the exact text of its lesson, from its first sentence to its last."""
    signals = Signals(
        meaning=round(float(scores.meaning[span.best]), 2),
        words=round(float(scores.words[span.best]), 2),
        matched=asked.matched(span, row),
    )
    passage = _cut(row, span.first, span.last)
    return msgspec.structs.replace(passage, score=round(span.score, 4), signals=signals)


def part_of_lesson(row: SentenceRow, part: LessonPart, characters: int) -> Passage:
    """Makes a passage from the first or the last sentences of a row, as many as fit, but at least one.

    A briefing shows it whole, because no search found it and its sentences need not resemble a question.
    """
    number = len(row.stretches) - 1 if part == "end" else 0
    inside = np.flatnonzero(row.stretch == number)
    first, last = int(inside[0]), int(inside[-1])
    if part == "beginning":
        fitting = inside[row.ends[inside] - row.starts[first] <= characters]
        last = max(first, int(fitting.max(initial=first)))
    else:
        fitting = inside[row.ends[last] - row.starts[inside] <= characters]
        first = min(last, int(fitting.min(initial=last)))
    return msgspec.structs.replace(_cut(row, first, last), kind="text")


def _cut(row: SentenceRow, first: int, last: int) -> Passage:
    """Returns the exact text of a lesson from one sentence of a row to another, with its place."""
    stretch = row.stretch_of(first)
    place = stretch.place
    start = int(row.starts[first])
    text = stretch.text[start : int(row.ends[last])].rstrip()
    starts = (row.starts[first : last + 1] - start).tolist()
    lesson = "" if place.lesson is None else f" - Lesson {place.lesson}"
    return Passage(
        id=passage_id(place.course, place.lesson, place.title, text),
        source=f"{place.course}{lesson}",
        text=StoredText(text),
        starts=tuple(starts),
        course=place.course,
        lesson=place.lesson,
        title=place.title or None,
        link=place.link,
        start=stretch.start + start,
    )
