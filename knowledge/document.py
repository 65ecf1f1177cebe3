"""A course document as it was read from a file, before it is cut into chunks."""

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
    """One course.

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
    """What is remembered of a document that was indexed before."""

    content_hash: str
    title: str
