"""`antiphon index --dry-run` and `antiphon courses layout`: show the tree of courses and lessons, and correct it."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.session import DataDir, settings_for_people
from antiphon.cli.terminal import counted, err, one_line, out

_MOST_FILES = 5
"""The most files that are named for one reason."""


def show_preview(preview: service.Preview) -> None:
    """Prints each course with its lessons and files, then the files left out with the reasons, then the counts."""
    for course in preview.courses:
        _show_course(course)
    for reason, paths in sorted(_by_reason(preview.left_out).items()):
        out.print(f"left out, {reason}: {_in_folder(paths)}", soft_wrap=True)
    show_by_reason("cannot be indexed", preview.failed, style="red")
    if preview.skipped:
        endings = service.counted_by_ending(preview.skipped)
        err.print(f"not read, as no reader knows the format: {endings}", soft_wrap=True)
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


def show_by_reason(what: str, files: Iterable[tuple[str, str]], *, style: str) -> None:
    """Prints a problem of files, with one line for each reason."""
    for reason, paths in _by_reason(files).items():
        named = one_line(paths[0], 300) if len(paths) == 1 else _in_folder(paths)
        line = f"{what}: {named}: {one_line(reason, 1_000)}"
        err.print(line, style=style, soft_wrap=True)


def _by_reason(files: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for path, reason in files:
        by_reason[reason].append(path)
    return by_reason


def _in_folder(paths: Sequence[str]) -> str:
    """Names the first of some files, and their common folder."""
    folder = os.path.commonpath([os.path.dirname(path) for path in paths])
    names = [os.path.relpath(path, folder) for path in paths]
    return f"{_listed(names)} in {one_line(folder, 300)}"


def _listed(files: Sequence[str]) -> str:
    shown = ", ".join([one_line(file, 200) for file in files[:_MOST_FILES]])
    more = len(files) - _MOST_FILES
    return f"{shown} and {more:,} more" if more > 0 else shown


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
