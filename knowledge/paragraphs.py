"""Hard-wrapped lines joined into paragraphs, so that a sentence is whole and what has a shape keeps it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OWN_LINE = re.compile(r"#{1,6}\s|\||[-=*_]{3,}\s*$")
_ITEM = re.compile(r"(?:[-*+•>]|[0-9]{1,3}[.)])\s")
_FENCE = ("```", "~~~")


def join_lines(lines: Iterable[str]) -> str:
    """The lines as paragraphs: one blank line between two, list items and code on lines of their own."""
    flow = _Flow()
    for line in lines:
        flow.take(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(flow.lines)).strip()


class _Flow:
    """The text so far; `open` says that the next plain line continues the last one."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.open = False
        self.code = False

    def take(self, line: str) -> None:
        words = " ".join(line.split())
        if words.startswith(_FENCE):
            self.code = not self.code
            self._add(words, goes_on=False)
        elif self.code:
            self._add(line.rstrip(), goes_on=False)
        elif not words or _OWN_LINE.match(words):
            self._add(words, goes_on=False)
        elif self.open and not _ITEM.match(words):
            self.lines[-1] = f"{self.lines[-1]} {words}"
        else:
            self._add(words, goes_on=True)

    def _add(self, line: str, *, goes_on: bool) -> None:
        self.lines.append(line)
        self.open = goes_on
