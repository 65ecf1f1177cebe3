"""Word documents (.docx): what stands on their pages, in its order; headings, lists and tables by their styles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from lxml import etree

from antiphon.knowledge.readers.content import (
    BLANK,
    LONGEST_TITLE,
    Content,
    Line,
    UnreadableError,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.drawings import Losses, row
from antiphon.knowledge.readers.ooxml import (
    Package,
    attribute,
    branches,
    child,
    every,
    kind,
    value,
)
from antiphon.knowledge.readers.plain_text import one_line
from antiphon.knowledge.readers.word_lists import BULLET, Lists
from antiphon.knowledge.readers.word_styles import (
    ParagraphStyle,
    Styles,
    list_place,
    outline_level,
)
from antiphon.knowledge.readers.word_text import REMOVED, TextWalk

# What may stand between a table and its rows, and a row and its cells.
_WRAPPERS = frozenset(
    {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag"}
)
_NUMBER = re.compile(r"[0-9]{1,3}[.)]")


def read(data: bytes) -> Content:
    """Reads a Word document; a place is the heading above, for the file knows no pages."""
    package = Package("a Word document", "w:document", data)
    document = _Document(package)
    lines = document.lines()
    # A title on the page is the author's; that of the properties is often the template's.
    # What wrote the file stands there too; "python-docx" is nobody's teacher, so the author is not taken.
    values = {"title": document.title}
    return content_of(lines, values, package.title or None, document.losses.words)


class _Document:
    """One document as it is walked."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self.title = ""
        self.losses = Losses()
        styles = Styles(self._part("styles"))
        self._styles = styles
        self._lists = Lists(self._part("numbering"))
        self._text = TextWalk(package, styles, self._notes(), self._blocks, self.losses)
        # The words of a paragraph that goes on in the next one.
        self._begun = ""
        self._was_item = False
        comments = self._part("comments")
        if comments is not None:
            self.losses.add("comment", len(comments))

    def lines(self) -> list[Line]:
        lines = list(_fenced(self._blocks(self._package.root)))
        lines.append(Line(self._begun))
        if any(line.text and not line.level for line in lines):
            return lines
        # Of a document of headings alone they are the text.
        texts = [Line(self.title)]
        for line in lines:
            texts += (Line(line.text), BLANK)
        return texts

    def _part(self, what: str) -> etree._Element | None:
        """Returns the part that is so to the document, where there is one that can be read."""
        for relation in self._package.relations(self._package.main).values():
            if relation.type == what:
                try:
                    return self._package.read(relation.part)
                except UnreadableError:
                    self.losses.add("part")
        return None

    def _notes(self) -> dict[tuple[str, str], etree._Element]:
        notes = {}
        for name in ("footnote", "endnote"):
            part = self._part(f"{name}s")
            if part is not None:
                for each in every(part, f"w:{name}"):
                    notes[f"w:{name}", attribute(each, "w:id")] = each
        return notes

    def _blocks(self, element: etree._Element) -> Iterator[Line]:
        """Yields the lines of the paragraphs and tables within an element."""
        for each in element:
            name = kind(each)
            if name == "w:p":
                yield from self._paragraph(each)
            elif name == "w:tbl":
                yield from self._table(each)
            elif name == "w:altChunk":
                self.losses.add("embedded")
            elif name == "mc:AlternateContent":
                yield from self._alternate(each)
            elif name not in REMOVED:
                yield from self._blocks(each)

    def _alternate(self, element: etree._Element) -> Iterator[Line]:
        for branch in branches(element):
            lines = list(self._blocks(branch))
            if any(line.text for line in lines):
                yield from lines
                return

    def _paragraph(self, paragraph: etree._Element) -> Iterator[Line]:
        properties = child(paragraph, "w:pPr")
        style = self._styles.resolve(value(properties, "w:pStyle"))
        words = self._text.words(paragraph, style.is_hidden)
        text = self._begun + words.text
        self._begun = ""
        if _goes_on(properties):
            self._begun = text
        else:
            yield from self._shaped(text, properties, style)
        yield from words.beside

    def _shaped(
        self, text: str, properties: etree._Element | None, style: ParagraphStyle
    ) -> Iterator[Line]:
        """Yields a paragraph as the heading, title, item, program or text that it is."""
        words = one_line(text)
        label = self._label(properties, style)
        level = _heading_level(words, properties, style)
        is_item = bool(label and words and not level)
        if self._was_item and not is_item:
            yield BLANK
        self._was_item = is_item
        if level:
            yield Line(_heading(label, words), level=level)
        elif is_item:
            yield Line(f"{_item_mark(label)} {words}")
        elif style.is_title and not self.title and _may_be_title(words):
            self.title = words
        else:
            yield from _lines(text, style.is_code)

    def _label(self, properties: etree._Element | None, style: ParagraphStyle) -> str:
        """Returns what stands before a paragraph as an item of a list, or as a numbered heading."""
        place = list_place(properties) or style.place
        label = "" if place is None else self._lists.label(place)
        if not label and place is None and style.is_item:
            return BULLET
        return label

    def _table(self, table: etree._Element) -> Iterator[Line]:
        rows = []
        for each in _within(table, "w:tr"):
            if child(each, "w:trPr/w:del") is None:
                rows.append(list(_within(each, "w:tc")))
        yield BLANK
        is_frame = all(len(cells) <= 1 for cells in rows)
        for cells in rows:
            if is_frame:
                yield from self._framed(cells)
            else:
                yield from self._row(cells)
        yield BLANK

    def _framed(self, cells: Iterable[etree._Element]) -> Iterator[Line]:
        """Yields what stands in a table of one column, which is a frame around paragraphs."""
        for cell in cells:
            yield from self._blocks(cell)
            yield BLANK

    def _row(self, cells: Iterable[etree._Element]) -> Iterator[Line]:
        """Yields one row, then the rows of tables within its cells."""
        texts: list[str] = []
        inner: list[Line] = []
        for cell in cells:
            lines = self._cell(cell)
            if lines is not None:
                words = [line.text for line in lines if not _is_row(line)]
                texts.append(one_line(" ".join(words)))
                inner += filter(_is_row, lines)
        if any(texts):
            yield row(texts)
        yield from inner

    def _cell(self, cell: etree._Element) -> list[Line] | None:
        """Returns the lines of a cell, none where it goes on from the row above, or None where there is no cell."""
        properties = child(cell, "w:tcPr")
        beside = value(properties, "w:hMerge")
        if child(properties, "w:cellDel") is not None or beside in ("", "continue"):
            return None
        if value(properties, "w:vMerge") in ("", "continue"):
            return []
        return list(self._blocks(cell))


def _goes_on(properties: etree._Element | None) -> bool:
    """Returns True for a paragraph whose end was deleted, and for a large first letter."""
    if child(properties, "w:rPr/w:del") is not None:
        return True
    frame = child(properties, "w:framePr")
    return frame is not None and attribute(frame, "w:dropCap") in ("drop", "margin")


def _may_be_title(words: str) -> bool:
    return 0 < len(words) <= LONGEST_TITLE


def _heading_level(
    words: str, properties: etree._Element | None, style: ParagraphStyle
) -> int:
    if not _may_be_title(words):
        return 0
    level = outline_level(properties)
    return style.level if level is None else level


def _heading(label: str, words: str) -> str:
    return words if label in ("", BULLET) else f"{label} {words}"


def _lines(text: str, is_code: bool) -> Iterator[Line]:
    for line in text.split("\n"):
        yield Line(line, is_code=is_code)
    if not is_code:
        yield BLANK


def _item_mark(label: str) -> str:
    return label if label == BULLET or _NUMBER.fullmatch(label) else f"{BULLET} {label}"


def _is_row(line: Line) -> bool:
    return line.text.startswith("|")


def _within(element: etree._Element, wanted: str) -> Iterator[etree._Element]:
    """Yields the rows of a table, or the cells of a row, whatever wraps them."""
    for each in element:
        name = kind(each)
        if name == wanted:
            yield each
        elif name in _WRAPPERS:
            yield from _within(each, wanted)


def _fenced(lines: Iterable[Line]) -> Iterator[Line]:
    """Yields lines, with those of a program between fences."""
    for is_code, together in groupby(lines, lambda line: line.is_code):
        if is_code:
            yield from code_lines("\n".join([line.text for line in together]))
            yield BLANK
        else:
            yield from together
