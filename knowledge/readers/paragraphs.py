"""Converts paragraphs and tables of word processors to lines: headings, titles, items, programs, text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from antiphon.knowledge.readers.content import (
    BLANK,
    LONGEST_TITLE,
    Line,
    code_lines,
)
from antiphon.knowledge.readers.plain_text import one_line
from antiphon.vocabulary.values import Value

BULLET = "-"
CODE_STYLES = frozenset(
    {
        "code",
        "code block",
        "html preformatted",
        "macro text",
        "preformatted text",
        "source code",
    }
)
"""Names of styles for code, in lower case."""
_CODE = re.compile(
    r"[;{}:]$|\w\(|\s[=<>+]=?\s|->|^[ \t]{0,40}[#$>]|^(?: {2}|\t)|^(?:import|from|def|class|return|SELECT)\b",
    re.MULTILINE,
)
_NUMBER = re.compile(r"[0-9]{1,3}[.)]")


class Shape(Value, frozen=True, kw_only=True):
    """The properties of a paragraph.

    Attributes:
        level: Of the heading; 0 for text.
        is_monospaced: True if it is in a font for programs, which some people use for prose too.
        label: The label of a list item or a numbered heading: `BULLET`, its number, or nothing.
    """

    level: int = 0
    label: str = ""
    is_title: bool = False
    is_code: bool = False
    is_monospaced: bool = False


class Paragraphs:
    """Converts the paragraphs of one document, one after the other.

    Attributes:
        title: The document's title, once a paragraph has given it.
    """

    def __init__(self) -> None:
        self.title = ""
        self._was_item = False
        self._was_code = False

    def lines(self, text: str, shape: Shape) -> Iterator[Line]:
        """Yields one paragraph."""
        words = one_line(text)
        label = shape.label
        may_be_title = 0 < len(words) <= LONGEST_TITLE
        is_heading = bool(shape.level) and may_be_title
        is_item = bool(label and words) and not is_heading
        if self._leaves_list(is_item):
            yield BLANK
        if is_heading:
            self._was_code = False
            yield Line(_heading(label, words), level=shape.level)
        elif is_item:
            yield Line(f"{_item_mark(label)} {words}")
        elif shape.is_title and may_be_title and not self.title:
            self.title = words
        else:
            yield from _plain(text, self._is_code(text, shape))

    def _is_code(self, text: str, shape: Shape) -> bool:
        is_program = self._was_code or _CODE.search(text) is not None
        self._was_code = shape.is_code or (shape.is_monospaced and is_program)
        return self._was_code

    def _leaves_list(self, is_item: bool) -> bool:
        was_item, self._was_item = self._was_item, is_item
        return was_item and not is_item

    def whole(self, lines: Iterable[Line]) -> list[Line]:
        """Returns the lines of the document; if it has only headings, they become its text."""
        read = list(_fenced(lines))
        if any(line.text and not line.level for line in read):
            return read
        texts = [Line(self.title), BLANK]
        for line in read:
            texts += (Line(line.text), BLANK)
        return texts


def _heading(label: str, words: str) -> str:
    return words if label in ("", BULLET) else f"{label} {words}"


def _item_mark(label: str) -> str:
    return label if label == BULLET or _NUMBER.fullmatch(label) else f"{BULLET} {label}"


def _plain(text: str, is_code: bool) -> Iterator[Line]:
    for line in text.split("\n"):
        yield Line(line, is_code=is_code)
    if not is_code:
        yield BLANK


def _fenced(lines: Iterable[Line]) -> Iterator[Line]:
    """Yields lines, with those of a program between fences."""
    for is_code, together in groupby(lines, lambda line: line.is_code):
        if is_code:
            yield from code_lines("\n".join([line.text for line in together]))
            yield BLANK
        else:
            yield from together


def row(cells: Sequence[str]) -> Line:
    """Returns one row of a table."""
    return Line(f"| {' | '.join(cells)} |")


def table(rows: Sequence[Sequence[Sequence[Line]]]) -> Iterator[Line]:
    """Yields the rows of a table whose cells have lines of their own; a table of one column is a frame around text."""
    is_frame = all(len(cells) <= 1 for cells in rows)
    yield BLANK
    for cells in rows:
        if is_frame:
            for lines in cells:
                yield from lines
            yield BLANK
        else:
            yield from _row(cells)
    yield BLANK


def _row(cells: Sequence[Sequence[Line]]) -> Iterator[Line]:
    """Yields one row, then the rows of tables within its cells."""
    texts = []
    inner: list[Line] = []
    for lines in cells:
        texts.append(joined(line for line in lines if not _is_row(line)))
        inner += filter(_is_row, lines)
    if any(texts):
        yield row(texts)
    yield from inner


def _is_row(line: Line) -> bool:
    return line.text.startswith("|")


def joined(lines: Iterable[Line]) -> str:
    """Returns the text of lines on one line."""
    return one_line(" ".join([line.text for line in lines]))
