"""Reads one file, or several planned as one course, as a course document, or refuses it with the reason.

Files may be hostile: this runs in a separate process (reading_process.py), within limits of time and memory.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from pathlib import Path

import msgspec

from antiphon.knowledge.course_reading import read_course
from antiphon.knowledge.layout import PlannedCourse
from antiphon.knowledge.naming import is_name, plain_name
from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers.content import LONGEST_TITLE, Content, UnreadableError
from antiphon.knowledge.readers.formats import (
    Format,
    format_of,
    read_content,
    suffixes,
)
from antiphon.knowledge.values import Document, Parts
from antiphon.vocabulary.errors import DocumentError
from antiphon.vocabulary.values import Value

LARGEST_TEXT = 50_000_000
"""Most characters of one document."""
# Raised when the same bytes would be read or cut differently, so that every document is indexed again.
_READING = "4"
# A file that changed more recently than this before the read may change again without a new time or size.
_SETTLED_S = 2.0


class Loaded(Value, frozen=True, kw_only=True):
    """The outcome of reading a document's files.

    Attributes:
        document: None if its content is unchanged.
        unread: Files of a course that could not be read, each with the reason; the document holds the others.
    """

    document: Document | None = None
    unread: tuple[tuple[str, str], ...] = ()


def load_document(path: str, course: PlannedCourse | None = None) -> Document:
    """Reads a file, or the files of a planned course, as a course document.

    Raises:
        DocumentError: It cannot be read, or holds no text; the reason is for the person who named the file.
    """
    document = load_changed(path, None, course).document
    # No file has the hash None.
    assert document is not None
    return document


def load_changed(
    path: str, known_hash: str | None, course: PlannedCourse | None = None
) -> Loaded:
    """Reads a document as `load_document` does, unless its content hash is `known_hash`.

    Raises:
        DocumentError: It cannot be read, or holds no text; the reason is for the person who named the file.
    """
    stamp = settled_stamp(path, course)
    if course is not None:
        return _load_course(course, stamp, known_hash)
    data = read_file(path)
    found_hash = content_hash(data)
    if found_hash == known_hash:
        return Loaded()
    parts = parse_content(_content(path, data))
    return Loaded(document=_document(path, found_hash, stamp, parts))


def _load_course(course: PlannedCourse, stamp: str, known_hash: str | None) -> Loaded:
    found_hash = _course_hash(course)
    if found_hash == known_hash:
        return Loaded()

    def read(file: str) -> Content:
        path = _path_of(course, file)
        return _content(path, read_file(path))

    parts, unread = read_course(course, read)
    if unread:
        # Without a stamp the course is read again in the next run; this hash stays equal while the same files fail.
        stamp = ""
        found_hash = content_hash(f"{found_hash}{unread}".encode())
    if found_hash == known_hash:
        return Loaded(unread=unread)
    document = _document(course.path, found_hash, stamp, parts)
    return Loaded(document=document, unread=unread)


def _path_of(course: PlannedCourse, file: str) -> str:
    return os.path.normpath(os.path.join(course.path, file))


def _course_hash(course: PlannedCourse) -> str:
    """Returns the hash of a course's files and plan, without its location; holds one file at a time."""
    rows = [_plan_as_text(course)]
    for file in course.files:
        try:
            rows.append(content_hash(read_file(_path_of(course, file))))
        except DocumentError as error:
            rows.append(error.reason)
    return content_hash("\n".join(rows).encode())


def _plan_as_text(course: PlannedCourse) -> str:
    return msgspec.json.encode(msgspec.structs.replace(course, path="")).decode()


def _content(path: str, data: bytes) -> Content:
    form = _format(path)
    try:
        return read_content(form, data)
    except UnreadableError as error:
        raise DocumentError(path, str(error)) from error
    except RecursionError as error:
        raise DocumentError(path, "it is nested too deeply") from error


def _document(path: str, found_hash: str, stamp: str, parts: Parts) -> Document:
    """Makes a document from a file's parts; without a title it is named after its file.

    Raises:
        DocumentError: There is no text, or too much of it.
    """
    size = sum(len(section.text) for section in parts.sections)
    if not size:
        raise DocumentError(path, "it holds no text")
    if size > LARGEST_TEXT:
        raise DocumentError(
            path,
            f"it holds {size // 1_000_000} million characters; split it by course",
        )
    return Document(
        path=path,
        content_hash=found_hash,
        stamp=stamp,
        title=parts.title or name_of(path),
        is_named=parts.title is not None,
        link=parts.link,
        instructor=parts.instructor,
        sections=parts.sections,
        losses=parts.losses,
    )


def name_of(path: str) -> str:
    """Makes a title from a file's or a folder's name; from the name of the enclosing folder for "README"."""
    if os.path.isdir(path):
        name = os.path.basename(path)
    else:
        stem = Path(path).stem
        name = stem if is_name(stem) else Path(path).parent.name
    return plain_name(name)[:LONGEST_TITLE] or path


def _format(path: str) -> Format:
    form = format_of(path)
    if form is None:
        raise DocumentError(
            path,
            f"it ends in none of {', '.join(suffixes())}; save it in one of these formats",
        )
    return form


def read_file(path: str) -> bytes:
    """Reads the file's bytes.

    Raises:
        DocumentError: It is missing, unreadable, empty, too large, no regular file, or in another format.
    """
    limit = _format(path).largest_bytes
    try:
        found = Path(path).stat()
        # Opening a named pipe would wait for ever.
        if not stat.S_ISREG(found.st_mode):
            raise DocumentError(path, "it is not a regular file")
        _check_size(path, found.st_size, limit)
        with Path(path).open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise DocumentError(
            path, f"it cannot be read: {error.strerror or error}"
        ) from error
    # Checked again, because the file may have grown since, and files in /proc report a size of zero.
    _check_size(path, len(data), limit)
    return data


def _check_size(path: str, size_bytes: int, limit: int) -> None:
    if size_bytes > limit:
        raise DocumentError(
            path,
            f"it is larger than {limit // 1_000_000} MB ({size_bytes // 1_000_000} MB); split it by course",
        )


def content_hash(data: bytes) -> str:
    """Returns the SHA-256 that identifies a document's content."""
    return hashlib.sha256(_READING.encode() + b"\n" + data).hexdigest()


def stamp_of(path: str, course: PlannedCourse | None = None) -> str:
    """Returns a document's sizes and times, which change with it and need no reading; empty if unavailable."""
    try:
        return _stamp(path, course)[0]
    except OSError:
        return ""


def settled_stamp(path: str, course: PlannedCourse | None = None) -> str:
    """Returns the stamp of a document; empty if it was written so recently that it may change without a new stamp."""
    try:
        stamp, changed_ns = _stamp(path, course)
    except OSError:
        return ""
    if time.time_ns() - changed_ns < _SETTLED_S * 1e9:
        return ""
    return stamp


def _stamp(path: str, course: PlannedCourse | None) -> tuple[str, int]:
    """Returns the stamp, and the time of the last change of the file, or of any file of the course."""
    if course is None:
        row, changed_ns = _row(path)
        return f"{_READING}:{row}", changed_ns
    rows = [_READING, _plan_as_text(course)]
    changed_ns = 0
    for file in course.files:
        row, file_changed_ns = _row(_path_of(course, file))
        rows.append(row)
        changed_ns = max(changed_ns, file_changed_ns)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest(), changed_ns


def _row(path: str) -> tuple[str, int]:
    """Returns the values that distinguish a file from a changed one, and the time of its change."""
    found = os.stat(path)
    # Includes the inode's change time, because programs that copy files set the other time back.
    changed_ns = max(found.st_mtime_ns, found.st_ctime_ns)
    name = os.path.basename(path)
    times = f"{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"
    return f"{name}:{found.st_size}:{times}", changed_ns
