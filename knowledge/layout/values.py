"""The layout of a folder: which of its files make up courses, which are documents of their own, which are left out."""

from __future__ import annotations

from antiphon.vocabulary.values import Value


class PlannedLesson(Value, frozen=True, kw_only=True):
    """One lesson: its files in the order of reading, relative to the course's folder.

    Attributes:
        title: Empty if the first of the files is to tell it.
    """

    number: int
    files: tuple[str, ...]
    title: str = ""


class PlannedCourse(Value, frozen=True, kw_only=True):
    """A course of several files.

    Attributes:
        path: Its folder, absolute; it identifies the course.
        title: Like `link` and `instructor` empty if the files about the course are to tell it.
        about: Files that describe the course, the best first.
        materials: Files of the course that belong to none of its lessons.
    """

    path: str
    title: str = ""
    link: str = ""
    instructor: str = ""
    about: tuple[str, ...] = ()
    lessons: tuple[PlannedLesson, ...] = ()
    materials: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """All files of the course, those of its lessons first."""
        listed = [file for lesson in self.lessons for file in lesson.files]
        return tuple(dict.fromkeys([*listed, *self.about, *self.materials]))


class Layout(Value, frozen=True, kw_only=True):
    """What a folder holds.

    Attributes:
        documents: Files that are documents of their own.
        left_out: Files that are not read, each with the reason.
        failed: Files that their owner wrote to tell the layout, and that could not be followed whole, with the reason.
    """

    courses: tuple[PlannedCourse, ...] = ()
    documents: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
