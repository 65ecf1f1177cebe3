"""Previews an indexing run: the courses, their lessons and files, and the files left out; it stores nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from antiphon.knowledge.finding import Choice, find_files
from antiphon.knowledge.layout import PlannedCourse
from antiphon.knowledge.reading_process import ReadingProcess
from antiphon.knowledge.target import ReportFile, set_target
from antiphon.knowledge.values import Document
from antiphon.vocabulary.values import Value


class PreviewLesson(Value, frozen=True, kw_only=True):
    """A lesson; without files of its own if its course is one file."""

    number: int
    title: str
    files: tuple[str, ...] = ()


class PreviewCourse(Value, frozen=True, kw_only=True):
    """A course that an indexing run would make.

    Attributes:
        path: Its file, or its folder.
        outside: Its files that belong to no lesson.
    """

    path: str
    title: str
    lessons: tuple[PreviewLesson, ...]
    outside: tuple[str, ...] = ()


class Preview(Value, frozen=True, kw_only=True):
    """The tree that an indexing run would make; `failed`, `skipped` and `left_out` as in its summary."""

    courses: tuple[PreviewCourse, ...]
    failed: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]


def preview_paths(
    paths: Iterable[str | Path],
    choice: Choice | None = None,
    stored: Mapping[str, str] | None = None,
    report: Callable[[int], ReportFile] = lambda _: lambda _, __: None,
) -> Preview:
    """Reads the files at `paths` as an indexing run into an empty index would, and writes nothing.

    Args:
        stored: The owner's stored layouts, by the paths of their folders.
        report: Gets the number of documents, and returns a function to call before each is read.
    """
    with ReadingProcess(layouts=stored) as reader:
        found = find_files(paths, (), reader.plan, choice or Choice())
        target = set_target(found, {}, reader, report(len(found.files)))
        plans = {course.path: course for course in found.courses}
        courses = [
            _previewed(reader.document(path), plans.get(path))
            for path in sorted(target.fresh)
        ]
    return Preview(
        courses=tuple(courses),
        failed=target.failed,
        skipped=target.skipped,
        left_out=target.left_out,
    )


def _previewed(document: Document, plan: PlannedCourse | None) -> PreviewCourse:
    files = [lesson.files for lesson in plan.lessons] if plan else []
    lessons: list[PreviewLesson] = []
    for section in document.sections:
        if section.number is not None:
            # In the order of the plan, which has no lessons if they are in the page about the course.
            own = files[len(lessons)] if files else ()
            lesson = PreviewLesson(
                number=section.number, title=section.title, files=own
            )
            lessons.append(lesson)
    return PreviewCourse(
        path=document.path,
        title=document.title,
        lessons=tuple(lessons),
        outside=(*plan.about, *plan.materials) if plan else (),
    )
