"""Courses and lessons as a question names them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from antiphon.engine.offline.catalogue import CourseEntry, LessonOf


class CourseMention(NamedTuple):
    """A course as the question names it, and where in the question.

    Attributes:
        name: As it is written there.
        courses: The courses that may be meant; none where it is called a course and is not known.
        names_teacher: It is the name of whoever teaches them.
    """

    name: str
    start: int
    end: int
    courses: tuple[CourseEntry, ...] = ()
    names_teacher: bool = False

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the courses that may be meant."""
        return tuple([course.title for course in self.courses])

    @property
    def course(self) -> str | None:
        """The title of the one course that it means; None where it may be several, or none."""
        if len(self.courses) != 1:
            return None
        return self.courses[0].title

    @property
    def lesson_number(self) -> int | None:
        return None

    def stands_in(self, text: str) -> bool:
        """Returns True where it stands in the same place of this text."""
        return text[self.start : self.end] == self.name


class LessonMention(NamedTuple):
    """A lesson as the question names it by its title, and where in the question."""

    name: str
    start: int
    end: int
    lesson: LessonOf

    @property
    def titles(self) -> tuple[str, ...]:
        """The title of its course."""
        return (self.lesson.course.title,)

    @property
    def course(self) -> str | None:
        """The title of its course."""
        return self.lesson.course.title

    @property
    def lesson_number(self) -> int | None:
        return self.lesson.lesson.number

    def stands_in(self, text: str) -> bool:
        """Returns True where it stands in the same place of this text."""
        return text[self.start : self.end] == self.name


Mention = CourseMention | LessonMention


class Mentions(NamedTuple):
    """All that a question names, in its order.

    Attributes:
        courses: Courses, known ones or not.
        lessons: Lessons by their titles.
    """

    courses: tuple[CourseMention, ...] = ()
    lessons: tuple[LessonMention, ...] = ()

    @property
    def all(self) -> tuple[Mention, ...]:
        mentions: list[Mention] = [*self.courses, *self.lessons]
        mentions.sort(key=lambda each: each.start)
        return tuple(mentions)

    @property
    def names_teacher(self) -> bool:
        """True where one of the courses is named by its teacher."""
        return any(mention.names_teacher for mention in self.courses)


def overlaps(mention: Mention, others: Iterable[Mention]) -> bool:
    """Returns True where a mention shares words of the question with another."""
    return any(
        mention.start < other.end and other.start < mention.end for other in others
    )
