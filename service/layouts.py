"""Layouts of courses, for callers to read and correct: lessons, their files, and the files left out."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

# As a module, so that the code for layouts of folders is loaded only on demand.
from antiphon import knowledge
from antiphon.knowledge import Course, CourseLayout, LeftOutFile, PlannedLesson
from antiphon.service.documents import Documents
from antiphon.service.jobs import Job
from antiphon.service.uploads import documents_folder, folder_to_index
from antiphon.vocabulary.access import Principal, without_keys
from antiphon.vocabulary.errors import (
    BadInputError,
    ForbiddenError,
    NotFoundError,
    ServiceError,
)
from antiphon.vocabulary.outside import one_line
from antiphon.vocabulary.values import Value

MOST_LESSONS = 500
MOST_COURSE_FILES = 4_000
MOST_TITLE_CHARS = 300


class LessonFiles(Value, frozen=True, kw_only=True):
    """A lesson and its files, relative to the course's folder."""

    number: int
    title: str
    files: tuple[str, ...]


class CourseFiles(Value, frozen=True, kw_only=True):
    """The layout of a course.

    Attributes:
        outside: Files of the course that belong to no lesson.
        corrected: True if the layout is a stored correction.
    """

    title: str
    lessons: tuple[LessonFiles, ...]
    outside: tuple[str, ...]
    left_out: tuple[LeftOutFile, ...]
    corrected: bool


class Correction(Value, frozen=True, kw_only=True):
    """The wanted layout of a course. A file that it does not name is outside lessons, or left out by a rule as before.

    Attributes:
        leave_out: The files that the caller leaves out.
    """

    title: str
    lessons: tuple[LessonFiles, ...]
    leave_out: tuple[str, ...] = ()


class Layouts:
    """The layouts of a caller's own courses that have a folder of their own.

    Courses indexed from elsewhere on this machine are only for the person who works on it: their folders hold files
    that nobody gave to the service.
    """

    def __init__(
        self,
        documents: Documents,
        principal: Principal,
        courses: Callable[[], Sequence[Course]],
    ) -> None:
        self._documents = documents
        self._data_dir = documents.data_dir
        self._principal = principal
        self._courses = courses

    async def titles(self) -> frozenset[str]:
        """Returns the titles of the courses whose layout the caller may read."""
        return await asyncio.to_thread(self._titles)

    async def read(self, title: str) -> CourseFiles:
        """Returns the layout of a course.

        Raises:
            NotFoundError: The caller has no such course, or it is not a folder.
            ForbiddenError: Its files are outside the service's data.
            BadInputError: Its folder is the one of all added documents.
        """
        _, found = await self._find(title)
        titles = self._lesson_titles(title)
        lessons = [
            LessonFiles(
                number=lesson.number,
                title=lesson.title or titles.get(lesson.number, ""),
                files=lesson.files,
            )
            for lesson in found.course.lessons
        ]
        return CourseFiles(
            title=title,
            lessons=tuple(lessons),
            outside=found.outside,
            left_out=found.left_out,
            corrected=found.is_corrected,
        )

    async def correct(self, title: str, correction: Correction) -> Job:
        """Begins to index a course by a correction, and stores that if it succeeds. Raises as `read` does.

        Raises:
            BadInputError: The correction cannot be used.
            BusyError: Too many jobs wait.
        """
        path, found = await self._find(title)
        await asyncio.to_thread(self._check_alone, path)
        text = await asyncio.to_thread(_text_of, found, correction)
        return await self._documents.lay_out(path, text)

    async def forget(self, title: str) -> Job:
        """Begins to index a course by the layout that its own files suggest. Raises as `read` does.

        Raises:
            NotFoundError: No correction of it is stored.
            BusyError: Too many jobs wait.
        """
        path, found = await self._find(title)
        if not found.is_corrected:
            raise NotFoundError(f"No correction of {title[:100]!r} is stored.")
        return await self._documents.lay_out(path, "")

    def _titles(self) -> frozenset[str]:
        paths = knowledge.document_paths(self._data_dir)
        return frozenset(
            [title for title, path in paths.items() if not self._refusal(title, path)]
        )

    async def _find(self, title: str) -> tuple[str, CourseLayout]:
        # Each reading starts a process, so a caller's requests run one after another.
        async with self._documents.reading_layout:
            return await asyncio.to_thread(self._found, title)

    def _found(self, title: str) -> tuple[str, CourseLayout]:
        """Returns the folder of a course, and its layout."""
        path = knowledge.document_paths(self._data_dir).get(title)
        if path is None:
            raise NotFoundError(
                f"You have no course {title[:100]!r}: `GET /api/courses` lists all courses."
            )
        refusal = self._refusal(title, path)
        if refusal is not None:
            raise refusal
        root = folder_to_index(path, self._data_dir)
        found = knowledge.course_layout(path, str(root), self._data_dir)
        if found is None:
            raise NotFoundError(
                f"The files of {title[:100]!r} have changed, and make no such course now: index them again."
            )
        return path, found

    def _refusal(self, title: str, path: str) -> ServiceError | None:
        """Returns the reason why the caller may not see the layout of a course; None if they may."""
        added = documents_folder(self._data_dir).resolve()
        is_added = Path(path).is_relative_to(added)
        if not is_added and not self._principal.sees_all:
            return ForbiddenError(
                f"The files of {title[:100]!r} lie outside of the service's data: only somebody who works on that "
                "machine may change its layout, without a key or with `antiphon courses layout`."
            )
        if not os.path.isdir(path):
            return NotFoundError(
                f"{title[:100]!r} is one file, or its folder is gone: only a folder of files has a layout."
            )
        if Path(path) == added:
            return BadInputError(
                f"The files of {title[:100]!r} lie in the folder of all added documents: remove the course, and "
                "send them in a folder of its own (`course/01-logs.md`)."
            )
        return None

    def _lesson_titles(self, title: str) -> dict[int, str]:
        """Returns the titles of a course's lessons in the index."""
        for course in self._courses():
            if course.title == title:
                return {lesson.number: lesson.title for lesson in course.lessons}
        return {}

    def _check_alone(self, path: str) -> None:
        """Refuses to correct a course whose folder contains other courses, which would become parts of it."""
        for title, other in knowledge.document_paths(self._data_dir).items():
            if Path(path) in Path(other).parents:
                raise BadInputError(
                    f"In the folder of this course lies another one, {title[:100]!r}, which a correction would make "
                    "part of it: keep them in folders beside each other."
                )


def _text_of(found: CourseLayout, correction: Correction) -> str:
    """Returns the stored form of a correction.

    Raises:
        BadInputError: It cannot be used.
    """
    title = one_line(correction.title, MOST_TITLE_CHARS)
    if not title:
        raise BadInputError("The title of the course is empty: give it one.")
    _check_lessons(correction.lessons)
    _check_files(found, correction)
    lessons = [
        PlannedLesson(
            number=lesson.number,
            title=one_line(lesson.title, MOST_TITLE_CHARS),
            files=lesson.files,
        )
        for lesson in correction.lessons
    ]
    text = knowledge.corrected_layout(found, title, lessons, correction.leave_out)
    if len(text.encode()) > knowledge.MOST_LAYOUT_BYTES:
        raise BadInputError(
            f"The correction is larger than {knowledge.MOST_LAYOUT_BYTES // 1_000} kB: name fewer files."
        )
    if without_keys(text) != text:
        raise BadInputError(
            "The correction holds a key (`antiphon keys`): take it out, and rotate the key."
        )
    return text


def _check_lessons(lessons: Sequence[LessonFiles]) -> None:
    if not lessons:
        raise BadInputError("A course needs a lesson: give one at least a file.")
    numbers = Counter(lesson.number for lesson in lessons)
    for lesson in lessons:
        if numbers[lesson.number] > 1:
            raise BadInputError(
                f"Two lessons have the number {lesson.number}: give each its own."
            )
        if not lesson.files:
            raise BadInputError(
                f"Lesson {lesson.number} has no file: give it one, or leave the lesson out."
            )


def _check_files(found: CourseLayout, correction: Correction) -> None:
    """Refuses files that are not in the course's folder, and files named twice."""
    known = {*found.course.files, *[each.file for each in found.left_out]}
    named = [file for lesson in correction.lessons for file in lesson.files]
    named += correction.leave_out
    if len(named) > MOST_COURSE_FILES:
        raise BadInputError(
            f"The correction names {len(named):,} files: {MOST_COURSE_FILES:,} is the most."
        )
    seen: set[str] = set()
    for file in named:
        shown = one_line(file)
        if file not in known:
            raise BadInputError(
                f"There is no file {shown!r} in the folder of this course: name those that its layout has."
            )
        if file in seen:
            raise BadInputError(
                f"The file {shown!r} is named twice: it can be in one lesson, or left out."
            )
        seen.add(file)
