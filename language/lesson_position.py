"""A lesson by its number, its place in the course, or the one beside another, and which one that is; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class LessonPlace(NamedTuple):
    """A lesson as a question names it.

    Attributes:
        number: Its number; None where it is named otherwise.
        position: Its place among the lessons, from 1, or from -1 at the end; 0 in the middle; None where its number is
            given.
        step: 1 where the lesson after that one is meant, -1 for the one before it, 2 for the second after it.
    """

    number: int | None = None
    position: int | None = None
    step: int = 0

    @property
    def is_relative(self) -> bool:
        """True for "the next lesson": which that is, depends on the one spoken of before."""
        return self.number is None and self.position is None

    @property
    def is_middle(self) -> bool:
        return self.position == 0

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
        if self.is_middle:
            return _middle_of(numbers)
        if self.position < 0:
            return len(numbers) + self.position
        return self.position - 1


def _middle_of(numbers: Sequence[int]) -> int | None:
    if len(numbers) % 2 == 0:
        return None
    return len(numbers) // 2
