"""Courses and their documents as values, from the file that was read to what the rest of the service sees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from antiphon.vocabulary.values import Value


class Mark(Value, frozen=True, kw_only=True):
    """A place in the file that a section's text was read from, such as a page or a time.

    Attributes:
        start: The first character of the section's text that is there; it holds until the next mark.
        place: In words for a citation: "page 3", "at 12:05", a heading.
        link: To that very place, if the section's link can be made to lead there.
        heading: The heading that the text is under; it is searched with the section's title and is not in its text.
    """

    start: int
    place: str
    link: str | None = None
    heading: str = ""


class Section(Value, frozen=True, kw_only=True):
    """One lesson's text, or the text that is outside all lessons.

    Attributes:
        number: The lesson's number, or None for text outside lessons.
        title: The lesson's title; empty outside lessons.
        text: Normalised: wrapped lines joined, paragraphs kept. Chunks and citations are exact parts of it.
        marks: The places in the file that the text was read from, in order.
    """

    number: int | None
    title: str
    text: str
    link: str | None = None
    marks: tuple[Mark, ...] = ()


class Parts(Value, frozen=True, kw_only=True):
    """A file's text in sections; `title` is None if the file names none, `losses` says what could not be taken."""

    title: str | None
    link: str | None
    instructor: str | None
    sections: tuple[Section, ...]
    losses: tuple[str, ...] = ()


class Document(Value, frozen=True, kw_only=True):
    """One course as it was read from a file, before it is cut into chunks.

    Attributes:
        path: The file's absolute path; it identifies the document.
        content_hash: Changes when the file's bytes, or our way of reading them, change.
        stamp: The file's size and times when it was read, by which an unchanged one need not be read again; empty
            if these may not tell.
        is_named: False for a title that is the file's name.
        losses: What of the file could not be taken, each in words for its owner.
        language: The ISO 639-1 code of the language that its text is in; None if that is not known.
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
        language: The ISO 639-1 code of the language that it is in; None if that is not known.
        losses: What of its files could not be taken, each in words.
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
        title: Its exact title, or None if no course, or more than one, is meant.
        nearest: Up to three titles that come nearest, best first; `title` leads them if it is not None.
    """

    title: str | None
    nearest: tuple[str, ...]


class LessonMatch(Value, frozen=True, kw_only=True):
    """The lesson that a name means.

    Attributes:
        number: Its number, or None if no lesson, or more than one, is meant.
        course: The title of its course; None for a number that was asked for in all courses.
        nearest: Up to three lessons that come nearest, best first, each as number and title.
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
        path: The document in hand.
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
        failed: Paths that could not be indexed, with the reason; what was indexed of them before stays.
        skipped: Files of the folders that are in no format that can be read.
        left_out: Files that are part of no course, such as licences, each with the reason.
        losses: Documents read in this run of which something could not be taken, each path with what that was.
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
