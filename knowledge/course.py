"""Courses as the rest of the service sees them."""

from __future__ import annotations

from antiphon.vocabulary.values import Value


class Lesson(Value, frozen=True, kw_only=True):
    """One line of a course's table of contents."""

    number: int
    title: str
    link: str | None = None


class Course(Value, frozen=True, kw_only=True):
    """A course's outline; `lessons` is empty where its text has no lessons, `chunks` counts its passages."""

    title: str
    link: str | None
    instructor: str | None
    lessons: tuple[Lesson, ...]
    chunks: int


class CourseMatch(Value, frozen=True, kw_only=True):
    """Which course a name means.

    Attributes:
        title: Its exact title, or None where no course, or more than one, is meant.
        nearest: Up to three titles that come nearest, best first; `title` leads them where it is not None.
    """

    title: str | None
    nearest: tuple[str, ...]


class LibraryState(Value, frozen=True, kw_only=True):
    """What is indexed; generation 0 and no embedder where nothing is."""

    generation: int
    embedder: str | None
    documents: int
    chunks: int
