"""Questions to begin with, made from definitions in the indexed lessons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from antiphon.composition import CourseIndex
from antiphon.knowledge import Course
from antiphon.vocabulary.outside import one_line
from antiphon.vocabulary.values import Passage, Value

LOOKED_THROUGH = 3
"""Passages of a lesson to search for a definition."""
MOST_CHARS = 90
_DEFINITION = re.compile(
    r"(?P<article>An?|The) (?P<what>[a-z][a-z-]*(?: [a-z-]+){0,3}) is (?:an?|the|one) "
)
"""The beginning of a sentence that defines something."""
_NO_NAME = frozenset(
    ("that", "which", "of", "in", "on", "for", "to", "first", "second", "last", "same", "other")
)  # fmt: skip
"""Words that show that a phrase is more than the name of a thing."""


class Suggestion(Value, frozen=True, kw_only=True):
    """A question that the index can answer, and the lesson with the answer."""

    question: str
    course: str
    lesson: int | None


def suggestions(library: CourseIndex, most: int) -> tuple[Suggestion, ...]:
    """Returns up to `most` questions, from as many courses as possible."""
    by_course = map(_lessons, library.courses())
    # One lesson of each course, then the next of each, so that a few questions show the range of the courses.
    in_turn = chain.from_iterable(zip_longest(*by_course))
    found: list[Suggestion] = []
    for lesson in in_turn:
        if len(found) == most:
            break
        if lesson is not None:
            found.append(_suggestion(library, *lesson))
    return tuple(found)


def _lessons(course: Course) -> Iterator[tuple[str, int | None, str]]:
    """Yields course, number and title of each lesson, the middle ones first, because the first ones only introduce."""
    if not course.lessons:
        yield course.title, None, course.title
        return
    middle = len(course.lessons) // 2
    for lesson in (*course.lessons[middle:], *course.lessons[:middle]):
        yield course.title, lesson.number, lesson.title or course.title


def _suggestion(
    library: CourseIndex, course: str, lesson: int | None, title: str
) -> Suggestion:
    passages = library.search(title, course, lesson, LOOKED_THROUGH)
    question = (
        _asked_for(passages) or f"What is taught on “{one_line(title, MOST_CHARS)}”?"
    )
    return Suggestion(question=question, course=course, lesson=lesson)


def _asked_for(passages: Sequence[Passage]) -> str | None:
    """Returns the question that a definition in the passages answers; None if there is none."""
    for passage in passages:
        for start in passage.starts:
            found = _DEFINITION.match(passage.text.text, start)
            if found is None or _NO_NAME & set(found["what"].split()):
                continue
            return f"What is {found['article'].lower()} {found['what']}?"
    return None
