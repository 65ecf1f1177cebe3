"""Readers of the formats that course documents come in; each takes hostile bytes."""

from antiphon.knowledge.readers.formats import (
    FORMATS,
    SUFFIXES,
    Format,
    format_of,
    read_content,
)

__all__ = ["FORMATS", "SUFFIXES", "Format", "format_of", "read_content"]
