"""One file read as a course document, or refused with the reason."""

from __future__ import annotations

import hashlib
import stat
from pathlib import Path

from antiphon.knowledge.decoding import NotTextError, decode
from antiphon.knowledge.document import Document
from antiphon.knowledge.parsing import LONGEST_TITLE, parse_script
from antiphon.vocabulary.errors import DocumentError

SUFFIXES = (".txt", ".md")
LARGEST_BYTES = 50_000_000
_READING = "1"
"""Raised when the same bytes would be read or cut in another way, so that every document is indexed again."""


def read_file(path: str) -> bytes:
    """The file's bytes.

    Raises:
        DocumentError: It is missing, unreadable, empty, too large, no regular file, or of another kind.
    """
    if not path.lower().endswith(SUFFIXES):
        raise DocumentError(path, f"only {' and '.join(SUFFIXES)} files can be indexed; convert it to plain text")
    try:
        found = Path(path).stat()
        if not stat.S_ISREG(found.st_mode):
            raise DocumentError(path, "it is not a regular file")
        _check_size(path, found.st_size)
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise DocumentError(path, f"it cannot be read: {error.strerror or error}") from error
    _check_size(path, len(data))
    return data


def _check_size(path: str, size_bytes: int) -> None:
    if size_bytes > LARGEST_BYTES:
        limit = LARGEST_BYTES // 1_000_000
        raise DocumentError(path, f"it is larger than {limit} MB ({size_bytes // 1_000_000} MB); split it by course")


def content_hash(data: bytes) -> str:
    """The SHA-256 by which a changed document is known."""
    return hashlib.sha256(_READING.encode() + b"\n" + data).hexdigest()


def parse_document(path: str, data: bytes) -> Document:
    """The document in `data`; a script without a title is named after its file.

    Raises:
        DocumentError: The bytes are no text, or there is no text in them.
    """
    try:
        script = parse_script(decode(data))
    except NotTextError as error:
        raise DocumentError(path, str(error)) from error
    if not any(section.text for section in script.sections):
        raise DocumentError(path, "it holds no text")
    return Document(
        path=path,
        content_hash=content_hash(data),
        title=script.title or _title_from(path),
        link=script.link,
        instructor=script.instructor,
        sections=script.sections,
    )


def load_document(path: str) -> Document:
    """Reads one file as a course document.

    Raises:
        DocumentError: It cannot be read, or holds no text; the reason is for the person who named the file.
    """
    return parse_document(path, read_file(path))


def _title_from(path: str) -> str:
    return " ".join(Path(path).stem.replace("_", " ").replace("-", " ").split())[:LONGEST_TITLE] or path
