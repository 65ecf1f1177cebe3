"""The rule by which a folder is one course: its lessons are files, numbered from 0 or 1 by their names.

A folder is a course where every file of a lesson's format in it (Markdown, transcripts, notebooks) but one about the
course begins with a number of its own, at least two do, and the first of them is no course script. Files of other
formats beside them are documents of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from antiphon.knowledge.readers.formats import format_of
from antiphon.vocabulary.values import Value

MOST_LESSONS = 500
_NUMBERED = re.compile(
    r"(?:(?:lesson|chapter|module|part|section|unit|week)[ _-]*)?([0-9]{1,3})(?:[ _.-]+(.*))?",
    re.IGNORECASE,
)
# The file that says what the course is, in this order.
_ABOUT = ("course", "index", "_index", "readme")
_HEAD_BYTES = 4_096
_COURSE_HEADER = re.compile(rb"course title\s*:", re.IGNORECASE)


class FolderFile(Value, frozen=True, kw_only=True):
    """A file of a course that is a folder; `lesson` is None for the one about the course."""

    path: str
    lesson: int | None
    name: str


def folder_files(folder: str) -> tuple[FolderFile, ...] | None:
    """Returns the files of a folder that is a course, in order of the lessons; None where it is none.

    Raises:
        OSError: It cannot be listed.
    """
    with os.scandir(folder) as entries:
        # A link may lead anywhere: a folder with one is read file by file, which looks where it leads.
        names = [
            entry.name for entry in entries if entry.is_file(follow_symlinks=False)
        ]
    return course_files(folder, names)


def course_files(folder: str, names: Iterable[str]) -> tuple[FolderFile, ...] | None:
    """Returns as `folder_files` does, of the names of a folder's files."""
    about: dict[str, FolderFile] = {}
    lessons: dict[int, FolderFile] = {}
    for name in sorted(filter(_is_lesson_file, names)):
        file = _file(os.path.join(folder, name), name.rpartition(".")[0])
        if file is None or file.lesson in lessons:
            return None
        if file.lesson is None:
            about.setdefault(file.name, file)
        else:
            lessons[file.lesson] = file
    if not 2 <= len(lessons) <= MOST_LESSONS or min(lessons) > 1:
        return None
    if _is_course_script(lessons[min(lessons)].path):
        return None
    ordered = [lessons[number] for number in sorted(lessons)]
    if about:
        ordered.insert(0, about[min(about, key=_ABOUT.index)])
    return tuple(ordered)


def _is_lesson_file(name: str) -> bool:
    form = format_of(name)
    return form is not None and form.is_lesson and not name.startswith(".")


def _file(path: str, stem: str) -> FolderFile | None:
    """Returns a file as part of a course; None where its name has no number and is not that of one about it."""
    if stem.lower() in _ABOUT:
        return FolderFile(path=path, lesson=None, name=stem.lower())
    found = _NUMBERED.fullmatch(stem)
    if found is None:
        return None
    number = int(found.group(1))
    name = plain_name(found.group(2) or "") or f"Lesson {number}"
    return FolderFile(path=path, lesson=number, name=name)


def plain_name(name: str) -> str:
    """Returns a name as words."""
    return " ".join(name.replace("_", " ").replace("-", " ").split())


def _is_course_script(path: str) -> bool:
    """Returns True for a file that begins as a course of its own."""
    try:
        with open(path, "rb") as file:
            return _COURSE_HEADER.search(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False
