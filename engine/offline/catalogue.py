"""The courses and lessons that there are, as the offline reasoner knows them; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.engine.offline.likely_names import likely_title
from antiphon.engine.offline.titles import Titles, tokens_of
from antiphon.language.evidence import Likeness
from antiphon.vocabulary.ports import KnownCourse

_TEACHERS_APART = re.compile(r"\s*(?:[,;&/]|\band\b)\s*", re.IGNORECASE)


class KnownTitle(NamedTuple):
    """A lesson by number and title."""

    number: int
    title: str


class CourseEntry(NamedTuple):
    """What is known of one course.

    Attributes:
        lessons: In their order; none where they are not known, or where it has none.
    """

    title: str
    instructor: str | None = None
    lessons: tuple[KnownTitle, ...] = ()

    @property
    def is_document(self) -> bool:
        """True for a text without lessons, or with one that is all of it."""
        return len(self.lessons) <= 1

    @property
    def teachers(self) -> tuple[str, ...]:
        """Each of those who teach it: "Yuki Sandoval and Bram Teller" are two."""
        named = _TEACHERS_APART.split(self.instructor or "")
        return tuple([name for name in named if name])

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its lessons, in their order."""
        return tuple([lesson.number for lesson in self.lessons])

    def lesson(self, number: int | None) -> KnownTitle | None:
        """Returns the lesson of this number."""
        for lesson in self.lessons:
            if lesson.number == number:
                return lesson
        return None


class LessonOf(NamedTuple):
    """One lesson, with the course that it belongs to."""

    course: CourseEntry
    lesson: KnownTitle


class Catalogue:
    """All courses, ready to be found in a question; empty where none are known.

    Attributes:
        courses: By title.
        lessons: Of all courses.
        teachers: The courses of each instructor.
        likeness: How like questions are by meaning; None where that cannot be told.
    """

    def __init__(
        self, courses: Sequence[CourseEntry] = (), likeness: Likeness | None = None
    ) -> None:
        self.likeness = likeness
        self.courses = tuple(courses)
        self.lessons: list[LessonOf] = []
        for course in self.courses:
            for lesson in course.lessons:
                self.lessons.append(LessonOf(course, lesson))
        self.teachers: dict[str, tuple[CourseEntry, ...]] = {}
        for course in self.courses:
            for teacher in course.teachers:
                others = self.teachers.get(teacher, ())
                self.teachers[teacher] = (*others, course)
        self.teacher_names = Titles(list(self.teachers))
        self.course_titles = Titles([course.title for course in self.courses])
        self.lesson_titles = Titles([each.lesson.title for each in self.lessons])

    def __bool__(self) -> bool:
        return bool(self.courses)

    def course(self, title: str | None) -> CourseEntry | None:
        """Returns the course with exactly this title."""
        for course in self.courses:
            if course.title == title:
                return course
        return None

    def numbers_of(self, title: str | None) -> tuple[int, ...]:
        """Returns the numbers of a course's lessons, in their order; none where the course is not known."""
        course = self.course(title)
        if course is None:
            return ()
        return course.numbers

    def with_lesson(self, number: int) -> tuple[str, ...]:
        """Returns the titles of the courses that have a lesson of this number."""
        return tuple([each.title for each in self.courses if number in each.numbers])

    def has_in_title(self, term: str) -> bool:
        """Returns True for a term of a title, of a course or of a lesson."""
        return self.course_titles.has_word(term) or self.lesson_titles.has_word(term)

    def titled(self, words: str) -> tuple[str, ...]:
        """Returns the titles that hold all of these words."""
        held = self.course_titles.holding(tokens_of(words))
        return tuple([self.courses[at].title for at in held])

    def named(self, name: str) -> tuple[CourseEntry, ...]:
        """Returns the courses that a name may mean: by its title, by that of one of its lessons, or by a like word.

        Where no courses are known, there is one of any name.
        """
        if not self.courses:
            return (CourseEntry(name),)
        name_words = tokens_of(name)
        found = [self.courses[at] for at in self.course_titles.holding(name_words)]
        if found:
            return tuple(found)
        # A course is also called by what it is known for: "the BM25 course".
        of_lessons: dict[CourseEntry, None] = {}
        for at in self.lesson_titles.holding(name_words):
            of_lessons.setdefault(self.lessons[at].course)
        if len(of_lessons) == 1:
            return tuple(of_lessons)
        likely = likely_title(
            name, [each.title for each in self.courses], self.likeness
        )
        if likely is None:
            return ()
        return (self.courses[likely],)


EMPTY = Catalogue()


def catalogue_of(
    courses: Sequence[KnownCourse], likeness: Likeness | None = None
) -> Catalogue:
    """Makes the catalogue of the courses of a library."""
    entries: list[CourseEntry] = []
    for course in courses:
        lessons = [KnownTitle(each.number, each.title) for each in course.lessons]
        entries.append(CourseEntry(course.title, course.instructor, tuple(lessons)))
    return Catalogue(entries, likeness)
