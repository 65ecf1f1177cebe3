"""Plain text and course scripts: bytes of any encoding that editors write."""

from __future__ import annotations

import codecs
import re

from antiphon.knowledge.readers.content import Content, Line, UnreadableError
from antiphon.language.unseen import without_unseen

_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What "surrogateescape" makes of bytes that are not UTF-8.
_UNDECODED = re.compile("[\udc80-\udcff]+")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_LINE_END = re.compile(r"\r\n?|[\x0c\u2028\u2029]")
# A short text may hold a few stray controls; beyond that one in a hundred characters means a binary file.
_MAX_CONTROL_SHARE = 0.01
_FEW_CONTROLS = 8


def read(data: bytes) -> Content:
    """Reads a text as its lines."""
    return Content(lines=[Line(line) for line in decode(data).split("\n")])


def decode(data: bytes) -> str:
    """Decodes UTF-8 or UTF-16 by its mark, else UTF-8 with stray Windows-1252 bytes.

    Line ends become `\\n`, unseen characters go.

    Raises:
        UnreadableError: The bytes look binary.
    """
    if data.startswith(_UTF16_MARKS):
        text = _decode_utf16(data)
    elif b"\0" in data:
        raise UnreadableError("it looks like a binary file: it holds NUL bytes")
    else:
        text = _UNDECODED.sub(_windows_1252, data.decode("utf-8", "surrogateescape"))
    allowed = max(_FEW_CONTROLS, len(text) * _MAX_CONTROL_SHARE)
    if len(_CONTROL.findall(text)) > allowed:
        raise UnreadableError(
            "it looks like a binary file: too many control characters"
        )
    return clean(text)


def clean(text: str) -> str:
    """Returns text from a file without what nobody sees, its lines ended by `\\n`."""
    if not text.isascii():
        # Halves of characters, which JSON may hold, can be neither stored nor sent.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # Line ends first: some of them are controls, which would go without a trace.
    text = _LINE_END.sub("\n", text)
    return without_unseen(text).replace("\u00a0", " ")


def one_line(text: str) -> str:
    """Returns text from a file on one line, without what nobody sees."""
    return " ".join(clean(text).split())


def _windows_1252(found: re.Match[str]) -> str:
    return found.group().encode("utf-8", "surrogateescape").decode("cp1252", "replace")


def _decode_utf16(data: bytes) -> str:
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"it starts as UTF-16 and does not go on so (byte {error.start})"
        ) from error
