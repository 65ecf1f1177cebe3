"""Bytes of a text file turned into clean characters, whatever editor wrote them."""

from __future__ import annotations

import codecs
import re

_UNDECODED = re.compile("[\udc80-\udcff]+")
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
# What an editor or a hostile author leaves in a text and no reader sees: C0 and C1 controls, soft hyphens,
# zero-width spaces, byte order marks, and the marks that turn the direction of writing.
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_MOST_CONTROLS = 0.01
_FEW_CONTROLS = 8


class NotTextError(ValueError):
    """The bytes are not a text; the message says why."""


def decode(data: bytes) -> str:
    """The text in `data`: UTF-8 or UTF-16 by its mark, else UTF-8 with stray Windows-1252 bytes.

    Line ends become `\\n`, unseen characters go.

    Raises:
        NotTextError: The bytes look binary.
    """
    text = _decode_utf16(data) if data.startswith(_UTF16_MARKS) else _decode_utf8(data)
    if len(_CONTROL.findall(text)) > max(_FEW_CONTROLS, len(text) * _MOST_CONTROLS):
        raise NotTextError("it looks like a binary file: too many control characters")
    text = re.sub(r"\r\n?|[\x0c\u2028\u2029]", "\n", text)
    return _UNSEEN.sub("", text).replace("\u00a0", " ")


def _decode_utf8(data: bytes) -> str:
    if b"\0" in data:
        raise NotTextError("it looks like a binary file: it holds NUL bytes")
    return _UNDECODED.sub(_windows_1252, data.decode("utf-8", "surrogateescape"))


def _windows_1252(found: re.Match[str]) -> str:
    return found.group().encode("utf-8", "surrogateescape").decode("cp1252", "replace")


def _decode_utf16(data: bytes) -> str:
    try:
        return data.decode("utf-16")
    except UnicodeDecodeError as error:
        raise NotTextError(f"it starts as UTF-16 and does not go on so (byte {error.start})") from error
