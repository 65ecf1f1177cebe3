"""Joins hard-wrapped lines to paragraphs, with their places in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from antiphon.knowledge.values import Mark
from antiphon.language.words import is_unspaced

_OWN_LINE = re.compile(r"#{1,6}\s|\||[-=*_]{3,}\s*$")
_ITEM = re.compile(r"(?:[-*+•>]|[0-9]{1,3}[.)])\s")
_FENCE = ("```", "~~~")


class JoinedText:
    """A text that grows line by line.

    It joins wrapped lines, so that a sentence is whole, and puts one blank line between paragraphs. List items,
    headings, tables and code keep lines of their own.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._marks: list[Mark] = []
        # The mark that applies from the next word on.
        self._mark: Mark | None = None
        self._blank_wanted = False
        self._in_code = False
        # True while the next plain line continues the last one.
        self._is_open = False

    @property
    def text(self) -> str:
        return "".join(self._parts).strip()

    @property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(self._marks)

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def mark(self, mark: Mark) -> None:
        """Sets the place of the following text; of several before the next word the last counts."""
        self._mark = mark

    def end_paragraph(self) -> None:
        """Ends the last line, so that nothing continues it."""
        self._is_open = False
        self._blank_wanted = True

    def add(self, line: str, is_code: bool = False) -> None:
        """Adds one line of the file; leaves code unchanged."""
        words = " ".join(line.split())
        if is_code:
            self._append(line.rstrip())
        elif words.startswith(_FENCE):
            self._in_code = not self._in_code
            self._append(words)
        elif self._in_code:
            self._append(line.rstrip())
        elif not words or _OWN_LINE.match(words):
            self._append(words)
        elif self._is_open and not _ITEM.match(words):
            self._continue(words)
        else:
            self._append(words)
            self._is_open = True

    def _append(self, line: str) -> None:
        self._is_open = False
        if not line:
            self._blank_wanted = True
            return
        separator = "\n\n" if self._blank_wanted else "\n"
        self._blank_wanted = False
        if not self._parts:
            separator = ""
            # Dropped, because stripping the text later would move every mark by the first line's indentation.
            line = line.lstrip()
        self._put(separator, line)

    def _continue(self, words: str) -> None:
        # Scripts without spaces between words have none between joined lines either.
        unspaced = is_unspaced(self._parts[-1][-1]) and is_unspaced(words[0])
        separator = "" if unspaced else " "
        self._put(separator, words)

    def _put(self, separator: str, words: str) -> None:
        self._parts += (separator, words)
        self._length += len(separator)
        if self._mark is not None:
            self._place(self._mark)
            self._mark = None
        self._length += len(words)

    def _place(self, mark: Mark) -> None:
        marks = self._marks
        if marks and marks[-1].start == self._length:
            del marks[-1]
        marks.append(replace(mark, start=self._length))


def join_lines(lines: Iterable[str]) -> str:
    """Joins the lines of a text without places."""
    joined = JoinedText()
    for line in lines:
        joined.add(line)
    return joined.text
