"""The values of a layout: courses, separate documents, and files left out."""

from __future__ import annotations

from antiphon.vocabulary.values import Value


class PlannedLesson(Value, frozen=True, kw_only=True):
    """One lesson: its files in the order of reading, relative to the course's folder.

    Attributes:
        title: Empty to take it from the first of the files.
    """

    number: int
    files: tuple[str, ...]
    title: str = ""


class PlannedCourse(Value, frozen=True, kw_only=True):
    """A course of several files.

    Attributes:
        path: Its folder, absolute; it identifies the course.
        title: Like `link` and `instructor`, empty to take it from the files about the course.
        about: Files that describe the course, the best first.
        materials: Files of the course that belong to no lesson.
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
    """The layout of a folder.

    Attributes:
        documents: Files that are separate documents.
        left_out: Files that are not indexed, each with the reason.
        failed: The owner's layout files that could not be followed completely, with the reason.
    """

    courses: tuple[PlannedCourse, ...] = ()
    documents: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
