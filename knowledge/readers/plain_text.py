"""Reads plain text and course scripts, in any encoding that editors write."""

from __future__ import annotations

import re

from antiphon.knowledge.readers.content import Content, Line
from antiphon.knowledge.readers.decoding import decode_bytes
from antiphon.language.unseen import without_unseen

_LINE_END = re.compile(r"\r\n?|[\x0c\u2028\u2029]")


def read(data: bytes) -> Content:
    """Reads a text as its lines."""
    return Content(lines=[Line(line) for line in decode(data).split("\n")])


def decode(data: bytes, declared: str = "") -> str:
    """Decodes a text of any encoding; line ends become `\\n`, invisible characters are removed.

    Args:
        declared: The encoding that the file names.

    Raises:
        UnreadableError: The bytes look binary, or are text in no known encoding.
    """
    return clean(decode_bytes(data, declared))


def clean(text: str) -> str:
    """Returns text from a file without invisible characters, its lines ended by `\\n`."""
    if not text.isascii():
        # Lone surrogates, which JSON may hold, can be neither stored nor sent.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    # Line ends first, because some of them are control characters, which the next step would remove.
    text = _LINE_END.sub("\n", text)
    return without_unseen(text).replace("\u00a0", " ")


def one_line(text: str) -> str:
    """Returns text from a file on one line, without invisible characters."""
    return " ".join(clean(text).split())
