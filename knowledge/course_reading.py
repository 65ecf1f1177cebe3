"""Reads a course of several files by its planned layout: lessons of one file or more, and text outside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from antiphon.knowledge.layout import PlannedCourse, PlannedLesson, name_of_lesson
from antiphon.knowledge.parsing import parse_content, parse_lesson
from antiphon.knowledge.readers.content import Content
from antiphon.knowledge.values import Mark, Parts, Section
from antiphon.vocabulary.errors import DocumentError
from antiphon.vocabulary.outside import web_link

_BETWEEN = "\n\n"

ReadFile = Callable[[str], Content]
"""Reads a file by its path in the course's folder; raises `DocumentError` if it cannot be read."""


def read_course(
    course: PlannedCourse, read: ReadFile
) -> tuple[Parts, tuple[tuple[str, str], ...]]:
    """Reads a course's files; returns its parts, and the unreadable files with the reasons."""
    reading = _Reading(read)
    about, outside = _about(course, reading)
    lessons = [_lesson(lesson, reading) for lesson in course.lessons]
    if not lessons:
        # Without planned lessons, the page about the course may hold them itself.
        outside[:1], lessons = _split(about.sections)
    outside += [_section(file, reading) for file in course.materials]
    text = _joined(None, "", outside)
    if text.text:
        lessons.insert(0, text)
    parts = Parts(
        title=course.title or about.title,
        link=web_link(course.link) or about.link,
        instructor=course.instructor or about.instructor,
        sections=tuple(lessons),
        losses=tuple(reading.losses),
    )
    return parts, tuple(reading.unread)


def _split(sections: Sequence[Section]) -> tuple[list[Section], list[Section]]:
    """Returns the text outside lessons, and the lessons."""
    outside = [section for section in sections if section.number is None]
    lessons = [section for section in sections if section.number is not None]
    return outside, lessons


class _Reading:
    """Reads files one after another, and notes their losses."""

    def __init__(self, read: ReadFile) -> None:
        self._read = read
        self.losses: list[str] = []
        self.unread: list[tuple[str, str]] = []

    def content(self, file: str) -> Content:
        """Reads a file; an unreadable one counts as empty, because it must not fail a course of a hundred."""
        try:
            content = self._read(file)
        except DocumentError as error:
            self.unread.append((error.path, error.reason))
            self.losses.append(f"{file} could not be read: {error.reason}")
            return Content(lines=[])
        self.losses += [f"{file}: {loss}" for loss in content.losses]
        return content


def _about(course: PlannedCourse, reading: _Reading) -> tuple[Parts, list[Section]]:
    """Reads the files that describe the course; the first gives its title and link, and may hold lessons."""
    contents = [reading.content(file) for file in course.about] or [Content(lines=[])]
    sections = [parse_lesson(content, 0, "") for content in contents]
    return parse_content(contents[0]), sections


def _lesson(lesson: PlannedLesson, reading: _Reading) -> Section:
    sections: list[Section] = []
    for file in lesson.files:
        name = name_of_lesson(file) or f"Lesson {lesson.number}"
        title = "" if sections else lesson.title
        content = reading.content(file)
        sections.append(parse_lesson(content, lesson.number, name, title))
    return _joined(lesson.number, sections[0].title, sections)


def _section(file: str, reading: _Reading) -> Section:
    return parse_lesson(reading.content(file), 0, name_of_lesson(file))


def _joined(number: int | None, title: str, sections: Sequence[Section]) -> Section:
    """Joins several sections into one; from the second on, each place also names the title of its file."""
    texts: list[str] = []
    marks: list[Mark] = []
    start = 0
    link: str | None = None
    for at, section in enumerate(sections):
        link = link or section.link
        if not section.text:
            continue
        marks += _moved(section, start, section.title if at else "")
        texts.append(section.text)
        start += len(section.text) + len(_BETWEEN)
    return Section(
        number=number,
        title=title,
        text=_BETWEEN.join(texts),
        link=link,
        marks=tuple(marks),
    )


def _moved(section: Section, start: int, title: str) -> list[Mark]:
    """Returns the places of a section moved to `start`; under a title if it is not the first."""
    marks: list[Mark] = []
    if title and (not section.marks or section.marks[0].start > 0):
        marks.append(Mark(start=start, place=title, heading=title))
    for mark in section.marks:
        place = f"{title}, {mark.place}" if title else mark.place
        heading = mark.heading or title
        marks.append(
            replace(mark, start=start + mark.start, place=place, heading=heading)
        )
    return marks
