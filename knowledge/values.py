"""The values of courses and documents, from a file that was read to the outline for the rest of the service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from antiphon.vocabulary.values import Value


class Mark(Value, frozen=True, kw_only=True):
    """A place in the file that a section's text was read from, such as a page or a time.

    Attributes:
        start: Offset in the section's text; the mark applies until the next one.
        place: The place in words for a citation: "page 3", "at 12:05", a heading.
        link: A link to that very place, if the section's link can be extended to it.
        heading: The heading above the text; searches see it with the section's title, but the text does not hold it.
    """

    start: int
    place: str
    link: str | None = None
    heading: str = ""


class Section(Value, frozen=True, kw_only=True):
    """One lesson's text, or the text outside all lessons.

    Attributes:
        number: The lesson's number, or None for text outside lessons.
        title: The lesson's title; empty outside lessons.
        text: Normalised: wrapped lines joined, paragraphs kept. Chunks and citations are exact parts of it.
        marks: The places of the text in the file, in order.
    """

    number: int | None
    title: str
    text: str
    link: str | None = None
    marks: tuple[Mark, ...] = ()


class Parts(Value, frozen=True, kw_only=True):
    """A file's text in sections; `title` is None if the file names none, `losses` lists the unreadable parts."""

    title: str | None
    link: str | None
    instructor: str | None
    sections: tuple[Section, ...]
    losses: tuple[str, ...] = ()


class Document(Value, frozen=True, kw_only=True):
    """One course read from its file, before it is cut into chunks.

    Attributes:
        path: The file's absolute path; it identifies the document.
        content_hash: Changes when the file's bytes, or our way of reading them, change.
        stamp: The file's size and times when it was read, by which an unchanged file need not be read again; empty if
            they are not reliable.
        is_named: False for a title that is the file's name.
        losses: The parts of the file that could not be read, each in words for its owner.
        language: The ISO 639-1 code of its language; None if unknown.
    """

    path: str
    content_hash: str
    title: str
    sections: tuple[Section, ...]
    link: str | None = None
    instructor: str | None = None
    stamp: str = ""
    is_named: bool = True
    losses: tuple[str, ...] = ()
    language: str | None = None


class KnownDocument(Value, frozen=True, kw_only=True):
    """Hash, title and stamp of a document that was indexed before."""

    content_hash: str
    title: str
    stamp: str = ""


class Lesson(Value, frozen=True, kw_only=True):
    """One line of a course's table of contents."""

    number: int
    title: str
    link: str | None = None


class Course(Value, frozen=True, kw_only=True):
    """A course's outline; `lessons` is empty if its text has no lessons, `chunks` counts its passages.

    Attributes:
        language: The ISO 639-1 code of its language; None if unknown.
        losses: The parts of its files that could not be read, each in words.
    """

    title: str
    link: str | None
    instructor: str | None
    lessons: tuple[Lesson, ...]
    chunks: int
    language: str | None = None
    losses: tuple[str, ...] = ()


class CourseMatch(Value, frozen=True, kw_only=True):
    """The course that a name means.

    Attributes:
        title: Its exact title, or None if the name means no course, or several.
        nearest: Up to three nearest titles, best first; `title` leads them if it is not None.
    """

    title: str | None
    nearest: tuple[str, ...]


class LessonMatch(Value, frozen=True, kw_only=True):
    """The lesson that a name means.

    Attributes:
        number: Its number, or None if the name means no lesson, or several.
        course: The title of its course; None for a number in all courses.
        nearest: Up to three nearest lessons, best first, each as number and title.
    """

    number: int | None
    course: str | None = None
    nearest: tuple[str, ...] = ()


class LibraryState(Value, frozen=True, kw_only=True):
    """Size and embedder of the index in use; generation 0 and no embedder if nothing is indexed."""

    generation: int
    embedder: str | None
    documents: int
    chunks: int


class IndexProgress(Value, frozen=True, kw_only=True):
    """The progress of an indexing run.

    Attributes:
        stage: `files` (reading them), `documents` (embedding) or `vectors` (building the vector index).
        done: Files, documents or vectors done, of `total`.
        path: The current document.
        chunks_done: Its chunks embedded so far, of `chunks`.
    """

    stage: Literal["files", "documents", "vectors"]
    done: int
    total: int
    path: str = ""
    chunks_done: int = 0
    chunks: int = 0


ReportProgress = Callable[[IndexProgress], None]


class IndexSummary(Value, frozen=True, kw_only=True):
    """The result of an indexing run.

    Attributes:
        added: Documents that are new; `changed`, `unchanged` and `removed` likewise count documents.
        failed: Paths that could not be indexed, with the reason; their earlier documents stay.
        skipped: Files of the folders in no readable format.
        left_out: Files that belong to no course, such as licences, each with the reason.
        losses: Documents of this run with parts that could not be read: each path with a description.
        chunks: Passages in the index now.
        generation: Its number; the same as before if nothing changed.
    """

    added: int
    unchanged: int
    changed: int
    removed: int
    failed: tuple[tuple[str, str], ...]
    chunks: int
    generation: int
    seconds: float
    skipped: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    losses: tuple[tuple[str, str], ...] = ()
