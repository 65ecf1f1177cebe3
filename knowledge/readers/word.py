"""Reads Word documents (.docx): the content of their pages, in order; headings, lists and tables by their styles."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from antiphon.knowledge.readers.content import (
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.office_xml import attribute, child, every, kind, value
from antiphon.knowledge.readers.ooxml import Package, branches
from antiphon.knowledge.readers.paragraphs import (
    BULLET,
    Paragraphs,
    Shape,
    table,
)
from antiphon.knowledge.readers.word_lists import Lists
from antiphon.knowledge.readers.word_styles import (
    ParagraphStyle,
    Styles,
    list_place,
    outline_level,
)
from antiphon.knowledge.readers.word_text import REMOVED, TextWalk

# Wrappers between a table and its rows, and a row and its cells.
_WRAPPERS = frozenset(
    {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag"}
)


def read(data: bytes) -> Content:
    """Reads a Word document; a place is the heading above, because the file has no page numbers."""
    package = Package("a Word document", "w:document", data)
    document = _Document(package)
    lines = document.lines()
    # A title on the page is the author's, one in the properties often the template's. The author field is not used as
    # the instructor, because it may name the program, such as "python-docx".
    values = {"title": document.title}
    return content_of(lines, values, package.title or None, document.losses.words)


class _Document:
    """Walks one document."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._paragraphs = Paragraphs()
        self.losses = Losses()
        styles = Styles(self._part("styles"))
        self._styles = styles
        self._lists = Lists(self._part("numbering"))
        self._text = TextWalk(package, styles, self._notes(), self._blocks, self.losses)
        # The words of a paragraph that continues in the next one.
        self._begun = ""
        comments = self._part("comments")
        if comments is not None:
            self.losses.add(Loss.COMMENT, len(comments))

    @property
    def title(self) -> str:
        return self._paragraphs.title

    def lines(self) -> list[Line]:
        read = list(self._blocks(self._package.root))
        return self._paragraphs.whole([*read, Line(self._begun)])

    def _part(self, what: str) -> etree._Element | None:
        """Returns the part with this relationship to the document, if there is a readable one."""
        for relation in self._package.relations(self._package.main).values():
            if relation.type == what:
                try:
                    return self._package.read(relation.part)
                except UnreadableError:
                    self.losses.add(Loss.PART)
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
                self.losses.add(Loss.EMBEDDED)
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
        words = self._text.words(paragraph, style)
        text = self._begun + words.text
        self._begun = ""
        if _goes_on(properties):
            self._begun = text
        else:
            shape = self._shape(properties, style, words.is_monospaced)
            yield from self._paragraphs.lines(text, shape)
        yield from words.beside

    def _shape(
        self,
        properties: etree._Element | None,
        style: ParagraphStyle,
        is_monospaced: bool,
    ) -> Shape:
        level = outline_level(properties)
        return Shape(
            level=style.level if level is None else level,
            label=self._label(properties, style),
            is_title=style.is_title,
            is_code=style.is_code,
            is_monospaced=is_monospaced,
        )

    def _label(self, properties: etree._Element | None, style: ParagraphStyle) -> str:
        """Returns the label of a paragraph that is a list item or a numbered heading."""
        place = list_place(properties) or style.place
        label = "" if place is None else self._lists.label(place)
        if not label and place is None and style.is_item:
            return BULLET
        return label

    def _table(self, element: etree._Element) -> Iterator[Line]:
        rows = []
        for each in _within(element, "w:tr"):
            if child(each, "w:trPr/w:del") is None:
                cells = [self._cell(cell) for cell in _within(each, "w:tc")]
                rows.append([cell for cell in cells if cell is not None])
        yield from table(rows)

    def _cell(self, cell: etree._Element) -> list[Line] | None:
        """Returns the lines of a cell, none if it continues from the row above, or None if there is no cell."""
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


def _within(element: etree._Element, wanted: str) -> Iterator[etree._Element]:
    """Yields the rows of a table, or the cells of a row, looking through wrappers."""
    for each in element:
        name = kind(each)
        if name == wanted:
            yield each
        elif name in _WRAPPERS:
            yield from _within(each, wanted)
