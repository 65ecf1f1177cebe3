"""Readers of the formats of course documents; each accepts hostile bytes."""

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    Reader,
    UnreadableError,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.formats import (
    Format,
    add_formats,
    format_of,
    formats,
    read_content,
    suffixes,
    use_readers,
)
from antiphon.knowledge.readers.plain_text import decode

__all__ = [
    "BLANK",
    "Content",
    "Format",
    "Line",
    "Reader",
    "UnreadableError",
    "add_formats",
    "code_lines",
    "content_of",
    "decode",
    "format_of",
    "formats",
    "read_content",
    "suffixes",
    "use_readers",
]
