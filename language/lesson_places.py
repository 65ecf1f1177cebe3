"""Reads which lesson a question means: its number, its place in the course, or the one beside another; pure.

The patterns have no nested repetition, and a question is read up to a bound: it is hostile text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.language.questions import LESSONS, lesson_numbers

READ_CHARS = 2_000

_ORDINALS = {
    "first": 1,
    "opening": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
    "tenth": 10,
    "last": -1,
    "final": -1,
    "closing": -1,
    "penultimate": -2,
}
_ORDINAL = rf"(?P<ordinal>{'|'.join(_ORDINALS)}|[1-9]\d?(?:st|nd|rd|th))"
_POSITION = re.compile(
    rf"\b(?P<back>second[ -]to[ -]|next[ -]to[ -])?{_ORDINAL}\s+(?:lesson|lecture|one)\b"
    rf"|\b(?:lesson|one)\b.{{0,30}}\b(?:is|comes|be)\s+(?:the\s+)?(?:very\s+)?(?P<alone>first|last|final)\b",
    re.IGNORECASE | re.DOTALL,
)
_COMES = (
    r"(?:lesson|comes?|one|what(?:'s| is))\s+(?:right\s+|directly\s+|just\s+|next\s+)?"
)
_BESIDE = re.compile(
    rf"\b(?P<next>next\s+lesson|following\s+lesson|{_COMES}after|follows|lesson\s+following)\b"
    rf"|\b(?P<previous>previous\s+lesson|preceding\s+lesson|{_COMES}before|precedes|lesson\s+preceding)\b",
    re.IGNORECASE,
)
_SPEAKS_OF_LESSONS = re.compile(r"\b(?:lesson|lecture)s?\b", re.IGNORECASE)


class LessonPlace(NamedTuple):
    """A lesson as a question names it.

    Attributes:
        number: Its number; None where it is named otherwise.
        position: Its place among the lessons, from 1, or from -1 at the end; None where its number is given.
        step: 1 where the lesson after that one is meant, -1 for the one before it.
    """

    number: int | None = None
    position: int | None = None
    step: int = 0

    @property
    def is_relative(self) -> bool:
        """True for "the next lesson": which that is, depends on the one spoken of before."""
        return self.number is None and self.position is None

    def among(self, numbers: Sequence[int]) -> int | None:
        """Returns the number that is meant in a course whose lessons have these numbers; None where there is none."""
        at = self._index(numbers)
        if at is None:
            return None
        at += self.step
        if not 0 <= at < len(numbers):
            return None
        return numbers[at]

    def _index(self, numbers: Sequence[int]) -> int | None:
        if self.number is not None:
            if self.number in numbers:
                return numbers.index(self.number)
            return None
        if self.position is None or abs(self.position) > len(numbers):
            return None
        if self.position < 0:
            return len(numbers) + self.position
        return self.position - 1


def lesson_place(question: str, *, after_lessons: bool = False) -> LessonPlace | None:
    """Returns the first lesson that a question names; None where it names none.

    Args:
        after_lessons: What was said before was about lessons, so that "the second one" is one.
    """
    text = question[:READ_CHARS]
    if not after_lessons and not speaks_of_lessons(text):
        return None
    step = _step(text)
    numbers = lesson_numbers(text)
    if numbers:
        return LessonPlace(number=numbers[0], step=step)
    position = _position(text)
    if position is not None:
        return LessonPlace(position=position, step=step)
    if step:
        return LessonPlace(step=step)
    return None


def speaks_of_lessons(question: str) -> bool:
    """Returns True where the question has the word lesson in it."""
    return _SPEAKS_OF_LESSONS.search(question[:READ_CHARS]) is not None


def without_lesson_places(text: str) -> str:
    """Returns the text without the words that name a lesson."""
    text = LESSONS.sub(" ", text)
    text = _BESIDE.sub(" ", text)
    return _POSITION.sub(" ", text)


def _step(text: str) -> int:
    beside = _BESIDE.search(text)
    if beside is None:
        return 0
    if beside["next"]:
        return 1
    return -1


def _position(text: str) -> int | None:
    found = _POSITION.search(text)
    if found is None:
        return None
    written = (found["ordinal"] or found["alone"]).lower()
    position = _ORDINALS.get(written)
    if position is None:
        position = int(written[:-2])
    # "The second to last": two from the end.
    if found["back"] and position == -1:
        return -2
    return position
