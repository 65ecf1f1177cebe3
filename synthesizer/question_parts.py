"""Takes a question apart, by rule: the sides it compares, the courses and lessons it names, else its own terms."""

from __future__ import annotations

import re
from functools import lru_cache
from math import ceil
from typing import Literal

from antiphon.language.words import terms
from antiphon.synthesizer.shortening import shorten
from antiphon.vocabulary.values import Value

READ_CHARS = 2_000
SHOWN_CHARS = 200
MOST_PARTS = 12
_SIDE = r"([^?!:;\n]{1,200}?)"
_LAST_SIDE = r"([^?!:;,.\n]{1,200})"
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:compare|contrast)\s+{_SIDE}\s+(?:and|with|to|against|versus|vs\.?)\s+{_LAST_SIDE}",
        rf"\bdifferences?\s+between\s+{_SIDE}\s+and\s+{_LAST_SIDE}",
        rf"\bhow\s+(?:do|does|did|is|are)\s+{_SIDE}\s+(?:different\s+from|differ\s+from|compared?\s+(?:to|with))"
        rf"\s+{_LAST_SIDE}",
        rf"{_SIDE}\s+(?:versus|vs\.?)\s+{_LAST_SIDE}",
    )
)
_LESSONS = re.compile(r"\blessons?\s+(\d{1,4}(?:\s*(?:,|and|or|to|&)\s*(?:lesson\s+)?\d{1,4})*)", re.IGNORECASE)
_LESSON = re.compile(r"\blessons?\s+\d", re.IGNORECASE)


class Part(Value, frozen=True, kw_only=True):
    """One thing that the question asks for.

    Attributes:
        text: The part as it is shown.
        terms: Stems that evidence for it holds.
        needed: How many of them one fact must hold to serve the part.
        course: For a course named: its title.
        lesson: For a lesson named: its number.
    """

    kind: Literal["side", "course", "lesson", "question"]
    text: str
    terms: frozenset[str]
    needed: int
    course: str | None = None
    lesson: int | None = None


def parts_of(question: str, course_titles: tuple[str, ...]) -> tuple[Part, ...]:
    """The parts of `question`, of which only a bounded beginning is read."""
    text = " ".join(question[:READ_CHARS].split())
    courses = _courses(text, course_titles)
    parts = (*_sides(text, courses), *courses, *_lessons(text))
    return parts[:MOST_PARTS] or _whole(text)


def _sides(text: str, courses: tuple[Part, ...]) -> tuple[Part, ...]:
    found = next((match for pattern in _COMPARISONS if (match := pattern.search(text))), None)
    if found is None:
        return ()
    sides = [_side(side.strip(), courses) for side in found.groups() if not _LESSON.search(side)]
    return tuple(side for side in sides if side.terms)


def _side(text: str, courses: tuple[Part, ...]) -> Part:
    """A side compared; a course named in it is a part of its own, so its title's words are not asked of the side."""
    held = frozenset(terms(text))
    wanted = held.difference(*(course.terms for course in courses if course.terms <= held))
    needed = len(wanted) if len(wanted) <= 2 else ceil(len(wanted) * 2 / 3)
    return Part(kind="side", text=text, terms=wanted, needed=needed)


def _courses(text: str, titles: tuple[str, ...]) -> tuple[Part, ...]:
    asked = frozenset(terms(text))
    return tuple(
        Part(kind="course", text=shorten(title, SHOWN_CHARS), terms=wanted, needed=len(wanted), course=title)
        for title in titles
        if (wanted := label_terms(title)) and wanted <= asked
    )


@lru_cache(maxsize=20_000)
def label_terms(label: str) -> frozenset[str]:
    """The terms of a title or source; cached, because every query meets the same ones."""
    return frozenset(terms(label))


def _lessons(text: str) -> tuple[Part, ...]:
    numbers = [int(number) for listed in _LESSONS.findall(text) for number in re.findall(r"\d+", listed)]
    return tuple(
        Part(kind="lesson", text=f"Lesson {number}", terms=frozenset({str(number)}), needed=1, lesson=number)
        for number in dict.fromkeys(numbers)
    )


def _whole(text: str) -> tuple[Part, ...]:
    wanted = frozenset(terms(text))
    part = Part(kind="question", text=shorten(text, SHOWN_CHARS), terms=wanted, needed=ceil(len(wanted) / 3))
    return (part,) if wanted else ()
