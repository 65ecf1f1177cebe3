"""Finds the lines of a file that open its lessons, with their numbers and titles.

The lessons are, by the first rule that fits:
1. lines such as "Lesson 3: Logs", in any format;
2. headings such as "Lecture 3" or "Week 3: Logs", if they are the majority at their level;
3. the headings of the file's first level, or of its second if a single heading of the first opens it as its title;
4. none: the whole file is one section without a number.
All other headings become places over their text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.knowledge.layout import LESSON_WORDS, number_of_title
from antiphon.knowledge.readers.content import LONGEST_TITLE, Line
from antiphon.language.words import fold
from antiphon.vocabulary.values import Value

_LESSON = re.compile(r"lesson\s+([0-9]{1,4})\s*[:.\u2013\u2014-]", re.IGNORECASE)
MARKUP = "#* \t"
"""Markdown around a header line or a heading: "## **Lesson 1: Logs**" is a heading too."""
_LEVELS = range(1, 7)


class Heading(Value, frozen=True, kw_only=True):
    """A lesson's heading."""

    number: int
    title: str


class Headings(Value, frozen=True, kw_only=True):
    """The lines that open a lesson, and the line with the file's title."""

    lessons: dict[int, Heading]
    title_at: int | None = None


def find_headings(lines: Sequence[Line]) -> Headings:
    """Finds the lessons by the rules in the module's docstring."""
    named: dict[int, Heading] = {}
    for at, line in enumerate(lines):
        heading = _heading(line)
        if heading is not None:
            named[at] = heading
    headings = _headings(lines)
    opens = headings and headings[0] not in named and _is_alone(headings, lines)
    title_at = headings.pop(0) if opens else None
    lessons = named or _by_word(headings, lines) or _by_level(headings, lines)
    return Headings(lessons=lessons, title_at=title_at)


def title_line(lines: Sequence[Line], title: str) -> int | None:
    """Returns the line of a lesson's title in its file, if it has one.

    Args:
        title: The title, if it is known already; else the title is a heading that opens the whole file.
    """
    headings = _headings(lines)
    if not headings:
        return None
    first = lines[headings[0]]
    if title:
        is_title = fold(without_number(first.text)) == fold(without_number(title))
    else:
        is_title = first.level == 1 or _is_alone(headings, lines)
    return headings[0] if is_title else None


def _headings(lines: Sequence[Line]) -> list[int]:
    """Returns the indexes of the lines that their format marks as headings."""
    return [at for at, line in enumerate(lines) if line.level and line.text.strip()]


def _is_alone(headings: Sequence[int], lines: Sequence[Line]) -> bool:
    """Returns True if the first heading is the only one of the highest level."""
    first = lines[headings[0]].level
    return all(lines[at].level > first for at in headings[1:])


def _by_word(headings: Sequence[int], lines: Sequence[Line]) -> dict[int, Heading]:
    """Finds the level at which most headings are like "Lecture 3", each with a number of its own."""
    for level in _LEVELS:
        places = [at for at in headings if lines[at].level == level]
        lessons: dict[int, Heading] = {}
        for at in places:
            found = number_of_title(plain_title(lines[at].text))
            if found is not None and found.word in LESSON_WORDS:
                title = without_number(lines[at].text)
                lessons[at] = Heading(number=found.number, title=title)
        distinct = {lesson.number for lesson in lessons.values()}
        if len(distinct) == len(lessons) >= 2 and 2 * len(lessons) > len(places):
            return lessons
    return {}


def _by_level(headings: Sequence[int], lines: Sequence[Line]) -> dict[int, Heading]:
    """Makes each heading of the highest level a lesson, by its own number if all have one."""
    if not headings:
        return {}
    top = min(lines[at].level for at in headings)
    places = [at for at in headings if lines[at].level == top]
    numbers = _own_numbers([lines[at].text for at in places])
    if len(set(numbers)) != len(places):
        numbers = list(range(1, len(places) + 1))
    return {
        at: Heading(number=number, title=without_number(lines[at].text))
        for at, number in zip(places, numbers, strict=True)
    }


def _own_numbers(texts: Sequence[str]) -> list[int]:
    """Returns the numbers of those headings that have one."""
    found = [number_of_title(plain_title(text)) for text in texts]
    return [each.number for each in found if each is not None and each.is_apart]


def _heading(line: Line) -> Heading | None:
    # Cut first, because the line may have megabytes.
    if line.is_code or len(line.text) > 2 * LONGEST_TITLE:
        return None
    plain = line.text.strip(MARKUP)
    if len(plain) > LONGEST_TITLE:
        return None
    found = _LESSON.match(plain)
    if found is None:
        return None
    number = int(found.group(1))
    return Heading(
        number=number, title=plain_title(plain[found.end() :]) or f"Lesson {number}"
    )


def without_number(text: str) -> str:
    """Returns a heading without its number: "Logs" of "Week 3: Logs"."""
    title = plain_title(text)
    found = number_of_title(title)
    if found is None or not found.is_apart:
        return title
    return plain_title(found.name) or title


def plain_title(text: str) -> str:
    """Returns a heading without the markup around it, on one line."""
    plain = " ".join(text.replace("**", "").strip(MARKUP).split())
    return plain[:LONGEST_TITLE]
