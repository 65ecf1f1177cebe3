"""Courses and their documents as values, from the file that was read to what the rest of the service sees."""

from __future__ import annotations

from antiphon.vocabulary.values import Value


class Section(Value, frozen=True, kw_only=True):
    """One lesson's text, or the text that stands outside all lessons.

    Attributes:
        number: The lesson's number, or None for text outside lessons.
        title: The lesson's title; empty outside lessons.
        text: Normalised: wrapped lines joined, paragraphs kept. Chunks and citations are exact parts of it.
    """

    number: int | None
    title: str
    text: str
    link: str | None = None


class Document(Value, frozen=True, kw_only=True):
    """One course as it was read from a file, before it is cut into chunks.

    Attributes:
        path: The file's absolute path; it identifies the document.
        content_hash: Changes when the file's bytes, or our way of reading them, change.
    """

    path: str
    content_hash: str
    title: str
    sections: tuple[Section, ...]
    link: str | None = None
    instructor: str | None = None


class KnownDocument(Value, frozen=True, kw_only=True):
    """Hash and title of a document that was indexed before."""

    content_hash: str
    title: str


class Lesson(Value, frozen=True, kw_only=True):
    """One line of a course's table of contents."""

    number: int
    title: str
    link: str | None = None


class Course(Value, frozen=True, kw_only=True):
    """A course's outline; `lessons` is empty where its text has no lessons, `chunks` counts its passages."""

    title: str
    link: str | None
    instructor: str | None
    lessons: tuple[Lesson, ...]
    chunks: int


class CourseMatch(Value, frozen=True, kw_only=True):
    """The course that a name means.

    Attributes:
        title: Its exact title, or None where no course, or more than one, is meant.
        nearest: Up to three titles that come nearest, best first; `title` leads them where it is not None.
    """

    title: str | None
    nearest: tuple[str, ...]


class LibraryState(Value, frozen=True, kw_only=True):
    """Size and embedder of the index in use; generation 0 and no embedder where nothing is indexed."""

    generation: int
    embedder: str | None
    documents: int
    chunks: int
