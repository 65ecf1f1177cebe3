"""Resolves a lesson's name: its number in digits or words, its place in the outline, or its title; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from antiphon.knowledge.resolving import (
    MIN_BY_LETTERS,
    NEAREST,
    Scored,
    clear_best,
    distinctive_words,
    rank_by_letters,
    rank_by_meaning,
)
from antiphon.knowledge.values import Course, Lesson, LessonMatch
from antiphon.knowledge.vectors import Vector
from antiphon.language.questions import NUMBER_WORDS
from antiphon.language.words import fold, words

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]] | Vector]

# Lower than for a course's title, because a course has few other lessons. Measured in
# tests/integration/test_knowledge_course_names.py: names of lessons that the course does not have reach 0.48 at most.
_MIN_BY_MEANING = 0.5
MOST_BY_LETTERS = 2_000
"""Most titles to compare with one name; in a larger library the caller must name the course."""
MOST_BY_MEANING = 100
"""Most titles to embed for one name; in a longer outline only the letters decide."""
# "4", "lesson 4", "no. 4", "#4", "-1", and with the title after it: "Lesson 4: Ranking".
_NUMBERED = re.compile(
    r"(?:the\s+)?(?:lesson\s*)?(?:number\s+|no\.?\s*|#\s*)?(-?\d{1,6})(?:\s*[:.)\u2013-].*)?",
    re.IGNORECASE | re.DOTALL,
)
_FILLERS = frozenset(("the", "lesson", "very", "number"))
_PLACES = {
    ("first",): 0, ("second",): 1, ("third",): 2, ("fourth",): 3, ("fifth",): 4, ("sixth",): 5, ("seventh",): 6,
    ("eighth",): 7, ("ninth",): 8, ("tenth",): 9, ("last",): -1, ("final",): -1, ("penultimate",): -2,
    ("second", "to", "last"): -2, ("next", "to", "last"): -2,
}  # fmt: skip
"""Places in the outline: the first lesson is the one at the top, whether its number is 0 or 1."""


class _Candidate(NamedTuple):
    """A lesson that the name may mean, and its course."""

    course: str
    lesson: Lesson

    @property
    def label(self) -> str:
        return f"{self.lesson.number} {self.lesson.title}"


def resolve_lesson(
    name: int | str, courses: Sequence[Course], embed: Embed
) -> LessonMatch:
    """Finds the lesson that a name means: a title in full, a number, a place such as "last", or a part of a title.

    Args:
        name: A negative number counts from the end of the outline.
        courses: The lesson's course alone, or all courses.
        embed: Called only if the letters do not decide, and only within one course.
    """
    candidates = _candidates(courses)
    text = " ".join(str(name).split())
    exact = [each for each in candidates if fold(each.lesson.title) == fold(text)]
    if len(exact) == 1:
        return _match(exact[0])
    number = _number_in(text)
    if number is not None and number >= 0:
        return _numbered(number, candidates, courses)
    place = _place_in(text) if number is None else number
    if place is not None:
        return _placed(place, courses)
    return _titled(text, candidates, courses, embed)


def _candidates(courses: Sequence[Course]) -> list[_Candidate]:
    candidates = []
    for course in courses:
        for lesson in course.lessons:
            candidates.append(_Candidate(course.title, lesson))
    return candidates


def _number_in(text: str) -> int | None:
    found = _NUMBERED.fullmatch(text)
    if found is not None:
        return int(found[1])
    told = [word for word in words(text) if word not in _FILLERS]
    if len(told) != 1:
        return None
    return NUMBER_WORDS.get(told[0])


def _place_in(text: str) -> int | None:
    """Returns the place in the outline that a phrase such as "the last lesson" names, from the end if negative."""
    # "The last one" is a place, whereas "lesson one" is a number.
    told = [word for word in words(text) if word not in _FILLERS and word != "one"]
    return _PLACES.get(tuple(told))


def _numbered(
    number: int, candidates: Sequence[_Candidate], courses: Sequence[Course]
) -> LessonMatch:
    for candidate in candidates:
        if candidate.lesson.number == number:
            # With several courses, the number means the lesson of each of them that has it.
            if len(courses) > 1:
                return LessonMatch(number=number)
            return _match(candidate)
    return LessonMatch(number=None)


def _placed(place: int, courses: Sequence[Course]) -> LessonMatch:
    # Every course has a last lesson, so without a course the name means none.
    if len(courses) != 1:
        return LessonMatch(number=None)
    (course,) = courses
    if not -len(course.lessons) <= place < len(course.lessons):
        return LessonMatch(number=None)
    return _match(_Candidate(course.title, course.lessons[place]))


def _titled(
    text: str,
    candidates: Sequence[_Candidate],
    courses: Sequence[Course],
    embed: Embed,
) -> LessonMatch:
    labelled = _labelled(candidates, courses)
    if not labelled or not words(text) or len(labelled) > MOST_BY_LETTERS:
        return LessonMatch(number=None, nearest=tuple(labelled)[:NEAREST])
    title_words = {
        label: distinctive_words(candidate.lesson.title)
        for label, candidate in labelled.items()
    }
    ranked = rank_by_letters(text, title_words)
    found = clear_best(ranked, MIN_BY_LETTERS)
    # Only within one course, because in a large library some lesson is always near enough in meaning.
    if found is None and len(courses) == 1 and len(labelled) <= MOST_BY_MEANING:
        ranked = _ranked_by_meaning(text, labelled, embed)
        found = clear_best(ranked, _MIN_BY_MEANING)
    if found is None:
        nearest = [scored.title for scored in ranked[:NEAREST]]
        return LessonMatch(number=None, nearest=tuple(nearest))
    return _match(labelled[found])


def _labelled(
    candidates: Sequence[_Candidate], courses: Sequence[Course]
) -> dict[str, _Candidate]:
    """Returns the candidates by number and title, with the course's title if there are several courses."""
    labelled = {}
    for candidate in candidates:
        own = candidate.label
        label = f"{own} ({candidate.course})" if len(courses) > 1 else own
        labelled[label] = candidate
    return labelled


def _ranked_by_meaning(
    text: str, labelled: dict[str, _Candidate], embed: Embed
) -> list[Scored]:
    titles = [candidate.lesson.title for candidate in labelled.values()]
    vector, *vectors = embed([text, *titles])
    return rank_by_meaning(vector, tuple(labelled), np.array(vectors, dtype=np.float32))


def _match(candidate: _Candidate) -> LessonMatch:
    return LessonMatch(
        number=candidate.lesson.number,
        course=candidate.course,
        nearest=(candidate.label,),
    )
