"""One file, or one folder of lessons, read as a course document, or refused with the reason.

Files are hostile: this runs in a process of its own (reading_process.py), within limits of time and memory.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

from antiphon.knowledge.course_folders import (
    FolderFile,
    folder_files,
    plain_name,
)
from antiphon.knowledge.parsing import parse_content, parse_lesson
from antiphon.knowledge.readers.content import LONGEST_TITLE, Content, UnreadableError
from antiphon.knowledge.readers.formats import (
    Format,
    format_of,
    read_content,
    suffixes,
)
from antiphon.knowledge.values import Document, Parts, Section
from antiphon.vocabulary.errors import DocumentError

LARGEST_TEXT = 50_000_000
"""Characters of one document."""
# Raised when the same bytes would be read or cut in another way, so that every document is indexed anew.
_READING = "3"
# A file that changed so shortly before it was read may change again without another time or size.
_SETTLED_S = 2.0


def load_document(path: str) -> Document:
    """Reads a file, or a folder whose files are lessons, as a course document.

    Raises:
        DocumentError: It cannot be read, or holds no text; the reason is for the person who named the file.
    """
    document = load_changed(path, None)
    # No file has the hash None.
    assert document is not None
    return document


def load_changed(path: str, known_hash: str | None) -> Document | None:
    """Reads a document as `load_document` does, unless its content is as it is known.

    Returns:
        The document, or None where its content hash is `known_hash`.

    Raises:
        DocumentError: It cannot be read, or holds no text; the reason is for the person who named the file.
    """
    stamp = settled_stamp(path)
    if os.path.isdir(path):
        return _load_folder(path, stamp, known_hash)
    data = read_file(path)
    found_hash = content_hash(data)
    if found_hash == known_hash:
        return None
    parts = parse_content(_content(path, data))
    return _document(path, found_hash, stamp, parts)


def _load_folder(path: str, stamp: str, known_hash: str | None) -> Document | None:
    files = folder_files(path)
    if files is None:
        raise DocumentError(path, "it is not a folder of lessons any more")
    data = [read_file(file.path) for file in files]
    found_hash = _folder_hash(files, data)
    if found_hash == known_hash:
        return None
    parts = _course_of(files, data)
    return _document(path, found_hash, stamp, parts)


def _course_of(files: Sequence[FolderFile], data: Sequence[bytes]) -> Parts:
    """Reads the files of a folder as one course, a file a lesson."""
    title = link = instructor = None
    sections: list[Section] = []
    losses: list[str] = []
    for file, each in zip(files, data, strict=True):
        content = _content(file.path, each)
        name = os.path.basename(file.path)
        losses += [f"{name}: {loss}" for loss in content.losses]
        if file.lesson is None:
            about = parse_content(content)
            title, link, instructor = about.title, about.link, about.instructor
            text = parse_lesson(content, 0, "")
            if text.text:
                sections.append(
                    Section(number=None, title="", text=text.text, marks=text.marks)
                )
            continue
        number = file.lesson if content.lesson is None else content.lesson
        sections.append(parse_lesson(content, number, file.name))
    return Parts(
        title=title,
        link=link,
        instructor=instructor,
        sections=tuple(sections),
        losses=tuple(losses),
    )


def _content(path: str, data: bytes) -> Content:
    form = _format(path)
    try:
        return read_content(form, data)
    except UnreadableError as error:
        raise DocumentError(path, str(error)) from error
    except RecursionError as error:
        raise DocumentError(path, "it is nested too deeply") from error


def _document(path: str, found_hash: str, stamp: str, parts: Parts) -> Document:
    """Makes the document of a file's parts; one without a title is named after its file.

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
    """Returns a title made of a file's or a folder's name."""
    name = os.path.basename(path) if os.path.isdir(path) else Path(path).stem
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
        DocumentError: It is missing, unreadable, empty, too large, no regular file, or of another kind.
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
    # Checked once more: the file may have grown since, and those of /proc report a size of zero.
    _check_size(path, len(data), limit)
    return data


def _check_size(path: str, size_bytes: int, limit: int) -> None:
    if size_bytes > limit:
        raise DocumentError(
            path,
            f"it is larger than {limit // 1_000_000} MB ({size_bytes // 1_000_000} MB); split it by course",
        )


def content_hash(data: bytes) -> str:
    """Returns the SHA-256 by which a changed document is recognised."""
    return hashlib.sha256(_READING.encode() + b"\n" + data).hexdigest()


def _folder_hash(files: Sequence[FolderFile], data: Sequence[bytes]) -> str:
    """Returns the hash of a folder of lessons: their names and what they hold."""
    rows = [
        f"{os.path.basename(file.path)}\0{content_hash(each)}"
        for file, each in zip(files, data, strict=True)
    ]
    return content_hash("\n".join(rows).encode())


def stamp_of(path: str) -> str:
    """Returns what of a file changes with it and is had without reading it; empty where that is nothing."""
    try:
        return _stamp(path)[0]
    except OSError:
        return ""


def settled_stamp(path: str) -> str:
    """Returns the stamp of a file that will not change unseen; empty where it was written a moment ago."""
    try:
        stamp, changed_ns = _stamp(path)
    except OSError:
        return ""
    if time.time_ns() - changed_ns < _SETTLED_S * 1e9:
        return ""
    return stamp


def _stamp(path: str) -> tuple[str, int]:
    """Returns the stamp, and when the file, or one of the folder's, changed last."""
    paths = [path]
    if os.path.isdir(path):
        files = folder_files(path)
        if files is None:
            return "", 0
        paths = [file.path for file in files]
    rows = [_READING]
    changed_ns = 0
    for each in paths:
        found = os.stat(each)
        # The time of the last change of the inode too: programs that copy set the other back.
        changed_ns = max(changed_ns, found.st_mtime_ns, found.st_ctime_ns)
        rows.append(
            f"{os.path.basename(each)}:{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"
        )
    if len(rows) == 2:
        return f"{_READING}:{rows[1]}", changed_ns
    return hashlib.sha256("\n".join(rows).encode()).hexdigest(), changed_ns
