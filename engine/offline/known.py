"""The courses and lessons of a catalogue, and the place among them that a question names."""

from __future__ import annotations

from typing import NamedTuple


class Lesson(NamedTuple):
    """A lesson by number and title."""

    number: int
    title: str


class Course(NamedTuple):
    """One course of the catalogue."""

    title: str
    teachers: tuple[str, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    language: str | None = None

    def lesson(self, number: int | None) -> Lesson | None:
        """Returns the lesson of this number."""
        return next((each for each in self.lessons if each.number == number), None)

    def placed(self, place: int) -> Lesson | None:
        """Returns the lesson at a position: 1 is the first, -1 the last."""
        at = place - 1 if place > 0 else place
        if -len(self.lessons) <= at < len(self.lessons):
            return self.lessons[at]
        return None

    def beside(self, number: int, step: int) -> Lesson | None:
        """Returns the lesson `step` positions after another, or before it if `step` is negative."""
        numbers = [each.number for each in self.lessons]
        if number not in numbers:
            return None
        at = numbers.index(number) + step
        return self.lessons[at] if 0 <= at < len(numbers) else None


class Place(NamedTuple):
    """The place that a question names.

    Attributes:
        course: The course, even if the question names only a lesson of it.
        others: Other courses that the question names.
        lesson: The number of the lesson.
        by_number: The question names the lesson by its number or position instead of its title.
        missing: The number of a lesson that the course does not have.
        step: 1 if the question means the lesson after the named or described one, -1 for the one before.
        described: The words that describe the lesson next to the meant one.
        rest: The question without the words that name the place.
    """

    course: Course | None = None
    others: tuple[Course, ...] = ()
    lesson: int | None = None
    by_number: bool = False
    missing: int | None = None
    step: int = 0
    described: str = ""
    rest: str = ""
