"""Finds the course and the lesson that a caller names in the catalogue; refuses unknown ones in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from antiphon.dispatcher.outlines import Course
from antiphon.dispatcher.output import line
from antiphon.vocabulary.errors import NotFoundError

MOST_NUMBERS = 20
"""Lesson numbers that a message lists one by one if a course's numbers have gaps."""
_NO_COURSES = "There are no courses yet."
_NAME_CHARS = 200


class CourseMatch(Protocol):
    """The course that a name refers to: its title, or None and the nearest titles."""

    @property
    def title(self) -> str | None: ...
    @property
    def nearest(self) -> tuple[str, ...]: ...


class LessonMatch(Protocol):
    """The lesson that a name refers to: its number and its course, or None and the nearest lessons."""

    @property
    def number(self) -> int | None: ...
    @property
    def course(self) -> str | None: ...
    @property
    def nearest(self) -> tuple[str, ...]: ...


class CourseCatalogue(Protocol):
    """The courses and their outlines; its methods block and may be called from any thread."""

    def resolve_course(self, name: str) -> CourseMatch: ...

    def resolve_lesson(self, name: int | str, course: str | None) -> LessonMatch:
        """Finds a lesson of the course with this exact title, or of any course if that is None."""

    def outline(self, title: str) -> Course | None: ...

    def courses(self) -> Sequence[Course]:
        """Returns all courses, by title."""


class Place(NamedTuple):
    """The place to search in: a course by its exact title and a lesson by its number; None: anywhere."""

    course: str | None
    lesson: int | None


def find_place(
    catalogue: CourseCatalogue, course_name: str | None, lesson: int | str | None
) -> Place:
    """Returns the course and the lesson that the arguments name; blocks.

    Args:
        course_name: A title, a part of it, or another way to put it.
        lesson: A number, a place such as "last", or a title; may name its course too.

    Raises:
        NotFoundError: There is no such course or lesson; the message names what there is instead.
    """
    course = find_course(catalogue, course_name) if course_name is not None else None
    if lesson is None:
        return Place(course, None)
    # Resolved together with the course, because lessons of several courses may share a number or title.
    match = catalogue.resolve_lesson(lesson, course)
    if match.number is None:
        raise NotFoundError(_no_lesson(catalogue, lesson, course, match.nearest))
    return Place(course or match.course, match.number)


def find_course(catalogue: CourseCatalogue, name: str) -> str:
    """Returns the exact title of the course that a name means; blocks. Raises as `find_place` does."""
    match = catalogue.resolve_course(name)
    if match.title is not None:
        return match.title
    hint = _nearest(match.nearest) if match.nearest else _NO_COURSES
    raise NotFoundError(f"No course named '{line(name, _NAME_CHARS)}'. {hint}")


def all_courses(catalogue: CourseCatalogue) -> Sequence[Course]:
    """Returns all courses; blocks.

    Raises:
        NotFoundError: There are none.
    """
    courses = catalogue.courses()
    if not courses:
        raise NotFoundError(_NO_COURSES)
    return courses


def _no_lesson(
    catalogue: CourseCatalogue,
    lesson: int | str,
    course: str | None,
    nearest: Sequence[str],
) -> str:
    shown = line(str(lesson), _NAME_CHARS)
    named = str(lesson) if _is_number(lesson) else f"'{shown}'"
    hints = []
    if nearest:
        hints.append(_nearest(nearest))
    if course is None:
        # Raises the better error if there are no courses at all.
        all_courses(catalogue)
        if _is_number(lesson):
            return f"No course has a lesson {lesson}."
        several = f"Not one lesson of all courses is meant by {named}."
        return " ".join([several, *hints, "Name its course, too."])
    outline = catalogue.outline(course)
    numbers = [each.number for each in outline.lessons] if outline is not None else []
    there_is = f"No lesson {named} in '{line(course, _NAME_CHARS)}': it has {_counted(numbers)}."
    return " ".join([there_is, *hints])


def _is_number(lesson: int | str) -> bool:
    return str(lesson).strip().isdecimal()


def _nearest(names: Sequence[str]) -> str:
    shown = [line(name, _NAME_CHARS) for name in names[:5]]
    return f"The nearest are: {'; '.join(shown)}."


def _counted(numbers: Sequence[int]) -> str:
    """Returns the numbers of the lessons in words, such as "lessons 0 to 7"."""
    if not numbers:
        return "no lessons"
    first, last = min(numbers), max(numbers)
    if first == last:
        return f"lesson {first} alone"
    if sorted(numbers) == list(range(first, last + 1)):
        return f"lessons {first} to {last}"
    shown = list(map(str, numbers[:MOST_NUMBERS]))
    if len(numbers) > MOST_NUMBERS:
        shown.append("…")
    return f"lessons {', '.join(shown)}"
