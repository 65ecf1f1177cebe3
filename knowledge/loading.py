"""One file read as a course document, whatever editor wrote it, or refused with the reason."""

from __future__ import annotations

import codecs
import hashlib
import re
import stat
from pathlib import Path

from antiphon.knowledge.parsing import LONGEST_TITLE, parse_script
from antiphon.knowledge.values import Document
from antiphon.language.unseen import without_unseen
from antiphon.vocabulary.errors import DocumentError

SUFFIXES = (".txt", ".md")
LARGEST_BYTES = 50_000_000
# Raised when the same bytes would be read or cut in another way, so that every document is indexed anew.
_READING = "2"

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What "surrogateescape" makes of bytes that are not UTF-8.
_UNDECODED = re.compile("[\udc80-\udcff]+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LINE_END = re.compile(r"\r\n?|[\x0c\u2028\u2029]")
# A short text may hold a few stray controls; beyond that one in a hundred characters means a binary file.
_MAX_CONTROL_SHARE = 0.01
_FEW_CONTROLS = 8


class NotTextError(ValueError):
    """The bytes are not a text; the message says why."""


def load_document(path: str) -> Document:
    """Reads one file as a course document.

    Raises:
        DocumentError: It cannot be read, or holds no text; the reason is for the person who named the file.
    """
    return parse_document(path, read_file(path))


def read_file(path: str) -> bytes:
    """Reads the file's bytes.

    Raises:
        DocumentError: It is missing, unreadable, empty, too large, no regular file, or of another kind.
    """
    if not path.lower().endswith(SUFFIXES):
        raise DocumentError(
            path,
            f"only {' and '.join(SUFFIXES)} files can be indexed; convert it to plain text",
        )
    try:
        found = Path(path).stat()
        # Opening a named pipe would wait for ever.
        if not stat.S_ISREG(found.st_mode):
            raise DocumentError(path, "it is not a regular file")
        _check_size(path, found.st_size)
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise DocumentError(
            path, f"it cannot be read: {error.strerror or error}"
        ) from error
    # Checked once more: the file may have grown since, and those of /proc report a size of zero.
    _check_size(path, len(data))
    return data


def _check_size(path: str, size_bytes: int) -> None:
    if size_bytes > LARGEST_BYTES:
        limit = LARGEST_BYTES // 1_000_000
        raise DocumentError(
            path,
            f"it is larger than {limit} MB ({size_bytes // 1_000_000} MB); split it by course",
        )


def content_hash(data: bytes) -> str:
    """Returns the SHA-256 by which a changed document is recognised."""
    return hashlib.sha256(_READING.encode() + b"\n" + data).hexdigest()


def parse_document(path: str, data: bytes) -> Document:
    """Parses a file's bytes; a script without a title is named after its file.

    Raises:
        DocumentError: The bytes are no text, or there is no text in them.
    """
    try:
        script = parse_script(decode(data))
    except NotTextError as error:
        raise DocumentError(path, str(error)) from error
    if not any(section.text for section in script.sections):
        raise DocumentError(path, "it holds no text")
    title = script.title
    if title is None:
        words = Path(path).stem.replace("_", " ").replace("-", " ").split()
        title = " ".join(words)[:LONGEST_TITLE] or path
    return Document(
        path=path,
        content_hash=content_hash(data),
        title=title,
        link=script.link,
        instructor=script.instructor,
        sections=script.sections,
    )


def decode(data: bytes) -> str:
    """Decodes UTF-8 or UTF-16 by its mark, else UTF-8 with stray Windows-1252 bytes.

    Line ends become `\\n`, unseen characters go.

    Raises:
        NotTextError: The bytes look binary.
    """
    if data.startswith(_UTF16_MARKS):
        text = _decode_utf16(data)
    elif b"\0" in data:
        raise NotTextError("it looks like a binary file: it holds NUL bytes")
    else:
        text = _UNDECODED.sub(_windows_1252, data.decode("utf-8", "surrogateescape"))
    allowed = max(_FEW_CONTROLS, len(text) * _MAX_CONTROL_SHARE)
    if len(_CONTROL.findall(text)) > allowed:
        raise NotTextError("it looks like a binary file: too many control characters")
    # Line ends first: some of them are controls, which would go without a trace.
    text = _LINE_END.sub("\n", text)
    return without_unseen(text).replace("\u00a0", " ")


def _windows_1252(found: re.Match[str]) -> str:
    return found.group().encode("utf-8", "surrogateescape").decode("cp1252", "replace")


def _decode_utf16(data: bytes) -> str:
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise NotTextError(
            f"it starts as UTF-16 and does not go on so (byte {error.start})"
        ) from error
