"""Layouts of courses as their owner corrected them: stored in the data folder, and read before anything else.

Each is in the form of a `course.yaml`, which a folder of somebody else's need not hold.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import yaml

from antiphon.knowledge.layout.own import OWN, STORED
from antiphon.knowledge.preview import PreviewCourse, preview_paths
from antiphon.vocabulary.errors import KnowledgeError, NotFoundError
from antiphon.vocabulary.private_files import make_private_file, make_private_folder

FOLDER = "layouts"
_MOST_BYTES = 400_000
# The first line of each file: which folder it is about.
_ABOUT = "# "


def stored_layouts(data_dir: Path) -> dict[str, str]:
    """Returns the stored layouts by the absolute paths of their folders."""
    stored: dict[str, str] = {}
    for path in sorted((data_dir / FOLDER).glob("*.yaml")):
        about, _, text = path.read_text(encoding="utf-8").partition("\n")
        stored[about.removeprefix(_ABOUT)] = text
    return stored


def show_layout(folder: Path, data_dir: Path) -> str:
    """Returns the layout of the course in a folder as a `course.yaml`, to be corrected.

    Raises:
        NotFoundError: The folder is no course of several files.
    """
    path = os.path.realpath(folder)
    preview = preview_paths([path], stored=stored_layouts(data_dir))
    for course in preview.courses:
        if course.path == path and any(lesson.files for lesson in course.lessons):
            return _as_text(course)
    others = [course.path for course in preview.courses if course.outside]
    hint = f"; {', '.join(others[:5])} is" if others else ""
    raise NotFoundError(f"{folder} is no course of several files{hint}.")


def _as_text(course: PreviewCourse) -> str:
    lessons: list[dict[str, object]] = []
    for lesson in course.lessons:
        files = list(lesson.files)
        lessons.append({"lesson": lesson.number, "title": lesson.title, "files": files})
    fields = {"title": course.title, "lessons": lessons, "leave_out": []}
    return yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=120)


def save_layout(folder: Path, text: str, data_dir: Path) -> None:
    """Stores a layout, by which the folder is indexed from then on.

    Raises:
        KnowledgeError: It cannot be followed, or makes no course of the folder's files.
    """
    path = os.path.realpath(folder)
    if len(text.encode()) > _MOST_BYTES:
        raise KnowledgeError(f"The layout is larger than {_MOST_BYTES // 1_000} kB.")
    preview = preview_paths([path], stored={path: text})
    for failed, reason in preview.failed:
        if failed == os.path.join(path, OWN):
            flaw = reason.removeprefix(STORED)
            raise KnowledgeError(f"The layout was not stored: {flaw}.")
    if path not in [course.path for course in preview.courses if course.lessons]:
        raise KnowledgeError(
            f"The layout makes no lesson: its `lessons` name no file that is in {path}."
        )
    place = _place(path, data_dir)
    make_private_folder(place.parent)
    fresh = place.with_suffix(".new")
    make_private_file(fresh)
    fresh.write_text(f"{_ABOUT}{path}\n{text}", encoding="utf-8")
    fresh.replace(place)


def forget_layout(folder: Path, data_dir: Path) -> None:
    """Lets a folder be laid out as its files tell.

    Raises:
        NotFoundError: No layout of it is stored.
    """
    try:
        _place(os.path.realpath(folder), data_dir).unlink()
    except FileNotFoundError:
        raise NotFoundError(f"No layout of {folder} is stored.") from None


def _place(folder: str, data_dir: Path) -> Path:
    name = hashlib.sha256(folder.encode()).hexdigest()[:16]
    return data_dir / FOLDER / f"{name}.yaml"
