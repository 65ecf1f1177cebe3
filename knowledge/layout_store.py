"""Stores layouts of courses corrected by their owner, in the data folder; they take precedence over the files.

Each has the form of a `course.yaml`, but leaves the course's folder, which may be somebody else's, untouched.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import yaml

from antiphon.knowledge.finding import find_files, is_under
from antiphon.knowledge.layout import (
    PlannedCourse,
    PlannedLesson,
    is_by_owner,
    is_by_table,
)
from antiphon.knowledge.layout.own import COURSE_FILE, STORED
from antiphon.knowledge.preview import PreviewCourse, preview_paths
from antiphon.knowledge.reading_process import ReadingProcess
from antiphon.vocabulary.errors import KnowledgeError, NotFoundError
from antiphon.vocabulary.private_files import make_private_file, make_private_folder
from antiphon.vocabulary.values import Value

FOLDER = "layouts"
MOST_LAYOUT_BYTES = 400_000
# The first line of each file, which names its folder.
_ABOUT = "# "


class LeftOutFile(Value, frozen=True, kw_only=True):
    """A left-out file of a course's folder, with the reason.

    Attributes:
        by_owner: True if the owner left it out.
    """

    file: str
    reason: str
    by_owner: bool


class CourseLayout(Value, frozen=True, kw_only=True):
    """The layout of a course; paths are relative to its folder.

    Attributes:
        is_corrected: True if it comes from a layout that its owner stored.
    """

    course: PlannedCourse
    left_out: tuple[LeftOutFile, ...]
    is_corrected: bool

    @property
    def outside(self) -> tuple[str, ...]:
        """The files of the course that belong to no lesson."""
        return (*self.course.about, *self.course.materials)


def course_layout(path: str, root: str, data_dir: Path) -> CourseLayout | None:
    """Returns the layout of the course in a folder, without reading its files; None if there is none.

    Args:
        root: The indexed folder, which may hold other courses.
    """
    stored = stored_layouts(data_dir)
    with ReadingProcess(layouts=stored) as reader:
        found = find_files([root], (), reader.plan)
    for course in found.courses:
        if course.path == path:
            left_out = [
                LeftOutFile(
                    file=os.path.relpath(file, path),
                    reason=reason,
                    by_owner=is_by_owner(reason),
                )
                for file, reason in found.left_out
                if is_under(file, [path])
            ]
            return CourseLayout(
                course=course, left_out=tuple(left_out), is_corrected=path in stored
            )
    return None


def corrected_layout(
    layout: CourseLayout,
    title: str,
    lessons: Sequence[PlannedLesson],
    leave_out: Sequence[str],
) -> str:
    """Returns a corrected layout in the form of a `course.yaml`; files that it puts in no lesson are outside.

    Files that a rule leaves out stay left out unless a lesson has them.
    """
    left_out = dict.fromkeys([*leave_out, *_unlisted(layout)])
    outside = [file for file in layout.course.files if file not in left_out]
    outside += [
        each.file
        for each in layout.left_out
        if each.by_owner and each.file not in left_out
    ]
    fields: dict[str, object] = {"title": title}
    if layout.course.link:
        fields["link"] = layout.course.link
    if layout.course.instructor:
        fields["instructor"] = layout.course.instructor
    fields["lessons"] = [
        {"lesson": lesson.number, "title": lesson.title, "files": list(lesson.files)}
        for lesson in lessons
    ]
    fields["outside"] = _without(outside, lessons)
    fields["leave_out"] = [
        f"./{glob.escape(file)}" for file in _without(left_out, lessons)
    ]
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)


def _unlisted(layout: CourseLayout) -> list[str]:
    """Returns the files left out only because a table of contents, which the correction replaces, lacks them."""
    return [each.file for each in layout.left_out if is_by_table(each.reason)]


def _without(files: Iterable[str], lessons: Sequence[PlannedLesson]) -> list[str]:
    """Returns the files that belong to no lesson, once each."""
    listed = {file for lesson in lessons for file in lesson.files}
    return [file for file in dict.fromkeys(files) if file not in listed]


def stored_layouts(data_dir: Path) -> dict[str, str]:
    """Returns the stored layouts by the absolute paths of their folders."""
    stored: dict[str, str] = {}
    for path in sorted((data_dir / FOLDER).glob("*.yaml")):
        about, _, text = path.read_text(encoding="utf-8").partition("\n")
        stored[about.removeprefix(_ABOUT)] = text
    return stored


def show_layout(folder: Path, data_dir: Path) -> str:
    """Returns the layout of the course in a folder as a `course.yaml` to correct.

    Raises:
        NotFoundError: The folder is not a course of several files.
    """
    path = os.path.realpath(folder)
    preview = preview_paths([path], stored=stored_layouts(data_dir))
    layout = course_layout(path, path, data_dir)
    for course in preview.courses:
        if layout is not None and course.path == path and layout.course.lessons:
            return _as_text(course, layout)
    others = [course.path for course in preview.courses if course.outside]
    hint = f"; {', '.join(others[:5])} is" if others else ""
    raise NotFoundError(f"{folder} is no course of several files{hint}.")


def _as_text(course: PreviewCourse, layout: CourseLayout) -> str:
    lessons = [
        PlannedLesson(number=lesson.number, title=lesson.title, files=lesson.files)
        for lesson in course.lessons
    ]
    leave_out = [each.file for each in layout.left_out if each.by_owner]
    return corrected_layout(layout, course.title, lessons, leave_out)


def save_layout(folder: Path, text: str, data_dir: Path) -> None:
    """Stores a layout for all later indexing of the folder.

    Raises:
        KnowledgeError: It cannot be followed, or makes no course of the folder's files.
    """
    path = os.path.realpath(folder)
    if len(text.encode()) > MOST_LAYOUT_BYTES:
        raise KnowledgeError(
            f"The layout is larger than {MOST_LAYOUT_BYTES // 1_000} kB."
        )
    preview = preview_paths([path], stored={path: text})
    for failed, reason in preview.failed:
        if failed == os.path.join(path, COURSE_FILE):
            flaw = reason.removeprefix(STORED)
            raise KnowledgeError(f"The layout was not stored: {flaw}.")
    if path not in [course.path for course in preview.courses if course.lessons]:
        raise KnowledgeError(
            f"The layout makes no lesson: its `lessons` name no file that is in {path}."
        )
    store_layout(path, text, data_dir)


def store_layout(path: str, text: str, data_dir: Path) -> None:
    """Stores a layout of a folder without checks."""
    place = _place(path, data_dir)
    make_private_folder(place.parent)
    fresh = place.with_suffix(".new")
    make_private_file(fresh)
    fresh.write_text(f"{_ABOUT}{path}\n{text}", encoding="utf-8")
    fresh.replace(place)


def forget_layout(folder: Path, data_dir: Path) -> None:
    """Returns a folder to the layout that its files suggest.

    Raises:
        NotFoundError: No layout of it is stored.
    """
    if not drop_layout(os.path.realpath(folder), data_dir):
        raise NotFoundError(f"No layout of {folder} is stored.")


def drop_layout(path: str, data_dir: Path) -> bool:
    """Removes the stored layout of a folder; returns False if there was none."""
    try:
        _place(path, data_dir).unlink()
    except FileNotFoundError:
        return False
    return True


def _place(folder: str, data_dir: Path) -> Path:
    name = hashlib.sha256(folder.encode()).hexdigest()[:16]
    return data_dir / FOLDER / f"{name}.yaml"
