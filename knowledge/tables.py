"""Recognises tables in a text: a line of dashes below the first row makes it the header, and a place of each row."""

from __future__ import annotations

import re

from msgspec.structs import replace

from antiphon.knowledge.joining import JoinedText
from antiphon.knowledge.values import Mark

_ROW = re.compile(r"\s*\|.*\|\s*$", re.DOTALL)
_SEPARATOR = re.compile(r"\s*\|(?:\s*:?-+:?\s*\|)+\s*$")
MOST_COLUMNS_CHARS = 120
"""Most characters of a header in the place of a row."""


def is_separator(line: str) -> bool:
    """Returns True for the line of dashes below a header: `|---|:-:|`."""
    return _SEPARATOR.match(line) is not None


class TableText:
    """Adds lines to a text, and places table rows under their header, because a table may exceed any passage."""

    def __init__(self, joined: JoinedText) -> None:
        self._joined = joined
        self._outside: Mark | None = None
        self._header = ""
        # Rows of the current table so far, including its header.
        self._rows = 0

    def mark(self, mark: Mark) -> None:
        """Sets the place of the following text, also after a table."""
        self._outside = mark
        self._joined.mark(mark)

    def add(self, line: str, *, is_code: bool) -> None:
        """Adds one line of the file."""
        is_row = not is_code and len(line.strip()) > 1 and _ROW.match(line) is not None
        if not is_row:
            self._end()
        elif not self._rows:
            self._header = line
        elif self._rows == 1 and not is_separator(line):
            self._joined.add(_separator_of(self._header))
            self._joined.mark(self._below())
        self._joined.add(line, is_code=is_code)
        if is_row:
            self._rows += 1
            if is_separator(line):
                self._joined.mark(self._below())

    def _end(self) -> None:
        if self._rows > 1:
            # Text after a table has no place if there was none before it.
            self._joined.mark(self._outside or Mark(start=0, place=""))
        self._rows = 0

    def _below(self) -> Mark:
        """Returns the place of the rows, which names their columns."""
        columns = _columns_of(self._header)
        outside = self._outside
        if outside is None:
            return Mark(start=0, place=columns, heading=columns)
        return replace(
            outside,
            place=f"{outside.place}: {columns}",
            heading=f"{outside.heading} {columns}".strip(),
        )


def _separator_of(header: str) -> str:
    return f"|{'---|' * (header.strip().strip('|').count('|') + 1)}"


def _columns_of(header: str) -> str:
    names = " ".join(header.strip().strip("|").split())
    if len(names) > MOST_COLUMNS_CHARS:
        names = f"{names[:MOST_COLUMNS_CHARS].rsplit(' ', 1)[0]} \u2026"
    return names
