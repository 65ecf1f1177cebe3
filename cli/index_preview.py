"""`antiphon index --dry-run` and `antiphon courses layout`: the tree of courses and lessons, and corrections of it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.session import DataDir, settings_for_people
from antiphon.cli.terminal import counted, err, one_line, out

_MOST_FILES = 5
"""Files of one reason that are named."""


def show_preview(preview: service.Preview) -> None:
    """Prints each course with its lessons and their files, then what is left out and why, then the counts."""
    for course in preview.courses:
        _show_course(course)
    _show_left_out(preview.left_out)
    for path, reason in preview.failed:
        line = f"cannot be indexed: {one_line(path, 300)}: {one_line(reason, 300)}"
        err.print(line, style="red", soft_wrap=True)
    if preview.skipped:
        endings = service.counted_by_ending(preview.skipped)
        err.print(f"not read, in no format that is: {endings}", soft_wrap=True)
    lessons = sum(len(course.lessons) for course in preview.courses)
    counts = (
        counted(len(preview.courses), "course"),
        counted(lessons, "lesson"),
        counted(len(preview.left_out), "file") + " left out",
    )
    out.print(f"{', '.join(counts)}. Nothing was indexed.", soft_wrap=True)


def _show_course(course: service.PreviewCourse) -> None:
    title = one_line(course.title, 300)
    lessons = counted(len(course.lessons), "lesson")
    out.print(f"{title} ({lessons}): {one_line(course.path, 300)}", soft_wrap=True)
    for lesson in course.lessons:
        line = f"  {lesson.number:>3}  {one_line(lesson.title, 300)}"
        if lesson.files:
            line = f"{line}  <- {_listed(lesson.files)}"
        out.print(line, soft_wrap=True)
    if course.outside:
        out.print(f"    -  outside lessons: {_listed(course.outside)}", soft_wrap=True)


def _show_left_out(left_out: Iterable[tuple[str, str]]) -> None:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for path, reason in left_out:
        by_reason[reason].append(path)
    for reason, paths in sorted(by_reason.items()):
        folder = os.path.commonpath([os.path.dirname(path) for path in paths])
        names = [os.path.relpath(path, folder) for path in paths]
        line = f"left out, {reason}: {_listed(names)} in {one_line(folder, 300)}"
        out.print(line, soft_wrap=True)


def _listed(files: Iterable[str]) -> str:
    names = [one_line(file, 200) for file in files]
    shown = ", ".join(names[:_MOST_FILES])
    more = len(names) - _MOST_FILES
    return f"{shown} and {more} more" if more > 0 else shown


def layout(
    folder: Annotated[Path, typer.Argument(help="The folder of a course.")],
    save: Annotated[
        Path | None,
        typer.Option(
            "--save",
            help="A corrected layout, to be used from now on.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget the corrections of this folder.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Prints how the course in a folder is laid out, in the form of a `course.yaml`; or takes a corrected one.

    Write the layout into a file, rename, merge, move or drop lessons in it, and store it with `--save`; the next
    `antiphon index` follows it.
    """
    settings = settings_for_people(data_dir=data_dir)
    if forget:
        service.forget_layout(folder, settings.data_dir)
        err.print("Forgotten; `antiphon index` lays the folder out by itself.")
    elif save is not None:
        text = save.read_text(encoding="utf-8", errors="replace")
        service.save_layout(folder, text, settings.data_dir)
        err.print("Stored; `antiphon index` follows it from now on.")
    else:
        out.print(service.show_layout(folder, settings.data_dir), soft_wrap=True)
