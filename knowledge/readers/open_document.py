"""Reads OpenDocument texts and slides (.odt, .odp): the content of their pages, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lxml import etree

from antiphon.knowledge.readers.archives import Archive
from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.drawings import says_nothing
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.office_xml import (
    attribute,
    child,
    every,
    kind,
    parse,
)
from antiphon.knowledge.readers.open_document_styles import Styles
from antiphon.knowledge.readers.paragraphs import (
    CODE_STYLES,
    Paragraphs,
    Shape,
    joined,
    table,
)
from antiphon.knowledge.readers.plain_text import clean, one_line

_MOST_REPEATED = 100
"""Most repetitions of one cell or one space; a file may claim any number."""
# Deleted text, and elements that no page shows.
_UNSEEN = frozenset(
    {
        "text:tracked-changes",
        "text:note-citation",
        "text:hidden-text",
        "text:hidden-paragraph",
        "text:alphabetical-index-mark",
        "office:forms",
        "office:event-listeners",
        "svg:title",
        "svg:desc",
    }
)
# An embedded file comes with a picture of itself.
_SILENT = {
    "draw:object-ole": Loss.EMBEDDED,
    "draw:plugin": Loss.MEDIA,
    "draw:image": Loss.DRAWING,
}
_FURNITURE = ("page-number", "date-time", "header", "footer")


class _Words:
    """Collects the words of one paragraph, and the content beside it."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.beside: list[Line] = []


def read_text(data: bytes) -> Content:
    """Reads an OpenDocument text; a place is the heading above, because the file has no page numbers."""
    document = _Document("an OpenDocument text", "office:text", data)
    lines = document.paragraphs.whole(document.blocks(document.body))
    values = {"title": document.paragraphs.title}
    return content_of(lines, values, document.title, document.losses.words)


def read_slides(data: bytes) -> Content:
    """Reads an OpenDocument presentation; a place is its slide, under the slide's title."""
    document = _Document("an OpenDocument presentation", "office:presentation", data)
    lines: list[Line] = []
    for number, page in enumerate(every(document.body, "draw:page"), start=1):
        lines += document.slide(number, page)
    first_title = next((line.heading for line in lines if line.place), "")
    title = first_title or document.title
    return content_of(lines, {}, title, document.losses.words)


class _Document:
    """Walks one document.

    Args:
        name: Its format in words.
        body: The element with the content of its pages.
    """

    def __init__(self, name: str, body: str, data: bytes) -> None:
        self._archive = Archive(name, data)
        if "content.xml" not in self._archive:
            raise UnreadableError(f"it is not {name}: it holds no content.xml")
        if b"encryption-data" in self._optional("META-INF/manifest.xml"):
            raise UnreadableError("it is encrypted; save it again without a password")
        root = parse(self._archive.read("content.xml"))
        found = child(root, f"office:body/{body}")
        if found is None:
            raise UnreadableError(f"it is not {name}: its body is none")
        self.body = found
        self.paragraphs = Paragraphs()
        self.losses = Losses()
        self.title = self._title()
        styles = self._optional("styles.xml")
        self._styles = Styles([parse(styles), root] if styles else [root])
        self._list_style = ""
        self._list_depth = 0
        self._last_numbers: dict[tuple[str, int], int] = {}
        self._label = ""
        self._block_handlers: dict[str, Callable[[etree._Element], Iterator[Line]]] = {
            "text:p": self._paragraph,
            "text:h": self._paragraph,
            "text:list": self._list,
            "table:table": self._table,
            "draw:frame": self._frame,
            "office:annotation": self._comment,
            "math:math": self._formula,
        }
        self._handlers: dict[str, Callable[[etree._Element, _Words], None]] = {
            "text:s": self._spaces,
            "text:tab": self._tab,
            "text:line-break": self._break,
            "text:note": self._note,
            "text:ruby": self._ruby,
            "text:span": self._span,
        }

    def _optional(self, name: str) -> bytes:
        return self._archive.read(name) if name in self._archive else b""

    def _title(self) -> str | None:
        meta = self._optional("meta.xml")
        found = next(every(parse(meta), "dc:title"), None) if meta else None
        return None if found is None else found.text

    def blocks(self, element: etree._Element) -> Iterator[Line]:
        """Yields the lines of an element's content, looking through wrappers."""
        for each in element:
            name = kind(each)
            handler = self._block_handlers.get(name, self.blocks)
            if name not in _UNSEEN and attribute(each, "text:display") != "none":
                yield from handler(each)

    def slide(self, number: int, page: etree._Element) -> list[Line]:
        """Returns the lines of one slide."""
        title = ""
        body: list[Line] = []
        for each in page:
            what = attribute(each, "presentation:class")
            if what == "title" and not title:
                title = joined(self.blocks(each))
            elif what not in _FURNITURE:
                body += [*self._wrapped(each), BLANK]
        # Usually a title becomes the place of its slide; that of a lesson, and one without other text, is also text.
        is_alone = not any(line.text for line in body)
        if is_alone or title.lower().startswith("lesson"):
            body.insert(0, Line(title))
        return [BLANK, Line("", place=f"slide {number}", heading=title), *body]

    def _wrapped(self, element: etree._Element) -> Iterator[Line]:
        handler = self._block_handlers.get(kind(element), self.blocks)
        yield from handler(element)

    def _paragraph(self, element: etree._Element) -> Iterator[Line]:
        style = attribute(element, "text:style-name")
        label, self._label = self._label, ""
        if self._styles.is_hidden(style):
            return
        words = _Words()
        self._walk(element, words)
        names = self._styles.names(style)
        level = attribute(element, "text:outline-level")
        is_heading = kind(element) == "text:h"
        shape = Shape(
            level=int(level) if is_heading and level.isdecimal() else int(is_heading),
            label=label,
            is_title="title" in names,
            is_code=not CODE_STYLES.isdisjoint(names),
        )
        yield from self.paragraphs.lines(clean("".join(words.parts)), shape)
        yield from words.beside

    def _walk(self, element: etree._Element, words: _Words) -> None:
        """Collects the text of an element, including the text between its children."""
        words.parts.append(_collapsed(element.text))
        for each in element:
            name = kind(each)
            if name in self._handlers:
                self._handlers[name](each, words)
            elif name in self._block_handlers:
                words.beside += self._block_handlers[name](each)
            elif name not in _UNSEEN:
                self._walk(each, words)
            words.parts.append(_collapsed(each.tail))

    def _span(self, element: etree._Element, words: _Words) -> None:
        if not self._styles.is_hidden(attribute(element, "text:style-name")):
            self._walk(element, words)

    def _spaces(self, element: etree._Element, words: _Words) -> None:
        words.parts.append(" " * _times(attribute(element, "text:c")))

    def _tab(self, _: etree._Element, words: _Words) -> None:
        words.parts.append("\t")

    def _break(self, _: etree._Element, words: _Words) -> None:
        words.parts.append("\n")

    def _note(self, element: etree._Element, words: _Words) -> None:
        text = joined(self.blocks(element))
        if text:
            words.beside += (Line(f"[note: {text}]"), BLANK)

    def _ruby(self, element: etree._Element, words: _Words) -> None:
        """Reads a word, then its pronunciation."""
        for name, opened, closed in (("ruby-base", "", ""), ("ruby-text", "(", ")")):
            part = child(element, f"text:{name}")
            if part is not None:
                words.parts.append(opened)
                self._walk(part, words)
                words.parts.append(closed)

    def _list(self, element: etree._Element) -> Iterator[Line]:
        outer = self._list_style
        self._list_style = attribute(element, "text:style-name") or outer
        self._list_depth += 1
        place = self._list_style, self._list_depth
        goes_on = attribute(element, "text:continue-numbering") == "true"
        number = self._last_numbers.get(place, 0) if goes_on else 0
        for item in element:
            if kind(item) == "text:list-item":
                number += 1
                self._label = self._styles.list_label(
                    self._list_style, self._list_depth, number
                )
            yield from self.blocks(item)
        self._last_numbers[place] = number
        self._list_style = outer
        self._list_depth -= 1
        self._label = ""

    def _table(self, element: etree._Element) -> Iterator[Line]:
        rows = []
        for each in _rows(element):
            cells = [list(self.blocks(cell)) for cell in _cells(each)]
            rows.append(cells)
        yield from table(rows)

    def _frame(self, frame: etree._Element) -> Iterator[Line]:
        """Yields the first form of a thing with any text: a box, an object, or else its description."""
        lost = self.losses.counted()
        for each in frame:
            self.losses.reset(lost)
            lines = list(self._form(each))
            if any(line.text for line in lines):
                yield BLANK
                yield from lines
                yield BLANK
                return
        yield from self._picture(frame)

    def _form(self, element: etree._Element) -> Iterator[Line]:
        name = kind(element)
        if name == "draw:object":
            yield from self._object(element)
        elif name not in _UNSEEN:
            yield from self._wrapped(element)

    def _object(self, element: etree._Element) -> Iterator[Line]:
        """Yields a formula or a chart, which is an embedded document."""
        folder = attribute(element, "xlink:href").removeprefix("./").rstrip("/")
        inner = self._optional(f"{folder}/content.xml") if folder else b""
        if inner:
            root = parse(inner)
            if kind(root) == "math:math":
                yield from self._formula(root)
            else:
                yield from self.blocks(root)
        else:
            yield from self.blocks(element)

    def _formula(self, element: etree._Element) -> Iterator[Line]:
        # The author's input; the other form has a sign in each element.
        typed = next(every(element, "math:annotation"), None)
        text = " ".join(element.itertext()) if typed is None else typed.text
        yield Line(one_line(text or ""))

    def _picture(self, frame: etree._Element) -> Iterator[Line]:
        says = _description(frame)
        if says:
            yield Line(f"[picture: {says}]")
            yield BLANK
            return
        for name, what in _SILENT.items():
            if child(frame, name) is not None:
                self.losses.add(what)
                return

    def _comment(self, _: etree._Element) -> Iterator[Line]:
        self.losses.add(Loss.COMMENT)
        yield from ()


def _description(frame: etree._Element) -> str:
    for name in ("svg:desc", "svg:title"):
        found = child(frame, name)
        words = "" if found is None else one_line(found.text or "")
        if not says_nothing(words):
            return words
    return ""


def _collapsed(text: str | None) -> str:
    """Collapses white space as the standard demands: spaces and line breaks in the file are one space."""
    if not text:
        return ""
    words = " ".join(text.split())
    before = " " if text[0].isspace() else ""
    after = " " if words and text[-1].isspace() else ""
    return f"{before}{words}{after}"


def _times(text: str) -> int:
    return min(int(text), _MOST_REPEATED) if text.isdecimal() else 1


def _rows(element: etree._Element) -> Iterator[etree._Element]:
    """Yields the rows of a table, looking through groups."""
    for each in element:
        if kind(each) == "table:table-row":
            yield each
        elif kind(each) != "table:table-column":
            yield from _rows(each)


def _cells(row: etree._Element) -> Iterator[etree._Element]:
    """Yields the cells of a row, without those under a column span; those under a row span are empty cells."""
    covered = 0
    for each in row:
        if kind(each) == "table:table-cell":
            covered = _times(attribute(each, "table:number-columns-spanned")) - 1
            # Spreadsheets fill the rest of a row with one repeated empty cell.
            times = _times(attribute(each, "table:number-columns-repeated"))
            for _ in range(times if len(each) else 1):
                yield each
        elif covered:
            covered -= 1
        else:
            yield each
