"""The catalogue as text that an answer can cite line by line: one course's outline, and the list of all courses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from antiphon.dispatcher.output import (
    MAX_PASSAGE,
    clean,
    content_id,
    line,
    line_starts,
)
from antiphon.language.detection import language_name
from antiphon.vocabulary.ports import ToolOutput
from antiphon.vocabulary.values import Passage, StoredText

ALL_COURSES = "All courses"
"""The source of the list of all courses."""
MAX_LISTED = MAX_PASSAGE - 500
"""Characters of that list, which is one passage with a line on what it leaves out."""
MAX_LINE = 1_000
"""Characters of one line: a document's title may be of any length."""


class Lesson(Protocol):
    """One lesson of an outline."""

    @property
    def number(self) -> int: ...
    @property
    def title(self) -> str: ...
    @property
    def link(self) -> str | None: ...


class Course(Protocol):
    """One course and its outline."""

    @property
    def title(self) -> str: ...
    @property
    def link(self) -> str | None: ...
    @property
    def instructor(self) -> str | None: ...
    @property
    def lessons(self) -> Sequence[Lesson]: ...
    @property
    def language(self) -> str | None: ...


def outline_of(course: Course) -> ToolOutput:
    """Returns a course's outline: title, instructor, link, the number and titles of its lessons, and their links."""
    lines = [f"Course: {course.title}"]
    if course.instructor:
        lines.append(f"Instructor: {course.instructor}")
    if course.link:
        lines.append(f"Link: {course.link}")
    lines += _foreign(course)
    lines.append(f"Lessons: {counted_lessons(course)}")
    for lesson in course.lessons:
        lines.append(f"Lesson {lesson.number}: {lesson.title}")
    # Links come last, because the end of an outline that is too long is cut off.
    for lesson in course.lessons:
        if lesson.link:
            lines.append(f"Link of lesson {lesson.number}: {lesson.link}")
    text = _joined(lines)
    return ToolOutput(
        text=text, passages=(_passage(course.title, text, course=course),)
    )


def list_of(courses: Sequence[Course]) -> ToolOutput:
    """Returns all courses: with lesson titles if that is short enough, else a line for each, as many as fit."""
    total = sum(len(course.lessons) for course in courses)
    head = f"Courses: {len(courses)}, with {total} lessons in all"
    full = _joined([head, *_in_full(courses)])
    text = full if len(full) <= MAX_LISTED else _joined([head, *_in_brief(courses)])
    passage = _passage(ALL_COURSES, text)
    # In a plain transcript the model knows a passage by the source above it.
    return ToolOutput(text=f"[{ALL_COURSES}]\n{text}", passages=(passage,))


def counted_lessons(course: Course) -> str:
    """Returns how many lessons a course has and their numbers, such as `8 (0 to 7)`."""
    numbers = [lesson.number for lesson in course.lessons]
    if not numbers:
        return "0"
    if len(numbers) == 1:
        return f"1 ({numbers[0]})"
    return f"{len(numbers)} ({min(numbers)} to {max(numbers)})"


def _foreign(course: Course) -> list[str]:
    """Names the language of a course that is not in English, because a search in it must use that language."""
    if course.language in (None, "en"):
        return []
    return [f"Language: {language_name(course.language)}"]


def _in_full(courses: Sequence[Course]) -> Iterator[str]:
    for course in courses:
        yield _course_line(course)
        titles = [f"{lesson.number} {lesson.title}" for lesson in course.lessons]
        if titles:
            yield f"Lessons of {course.title}: {'; '.join(titles)}"


def _in_brief(courses: Sequence[Course]) -> list[str]:
    lines: list[str] = []
    room = MAX_LISTED
    for course in courses:
        listed = line(_course_line(course), MAX_LINE)
        room -= len(listed) + 1
        if room < 0:
            left = len(courses) - len(lines)
            lines.append(f"{left} more courses are not listed here: search for one.")
            break
        lines.append(listed)
    return lines


def _course_line(course: Course) -> str:
    parts = [f"Course: {course.title}", f"Lessons: {counted_lessons(course)}"]
    if course.instructor:
        parts.append(f"Instructor: {course.instructor}")
    if course.link:
        parts.append(f"Link: {course.link}")
    parts += _foreign(course)
    return ". ".join(parts)


def _joined(lines: Sequence[str]) -> str:
    # Each fact has its own line: the lines are the sentences that an answer cites.
    return clean("\n".join([" ".join(each.split()) for each in lines]))


def _passage(source: str, text: str, course: Course | None = None) -> Passage:
    title: str | None = None
    link: str | None = None
    if course is not None:
        title = course.title
        link = course.link
    return Passage(
        id=content_id(source, text),
        source=source,
        text=StoredText(text),
        starts=line_starts(text),
        course=title,
        link=link,
        kind="outline",
    )
