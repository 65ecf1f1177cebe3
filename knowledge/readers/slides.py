"""Reads slides (.pptx): the text of each slide, then the speaker's notes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from lxml import etree

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.drawings import (
    GRAPHICS,
    description,
    drawn_text,
    graphic,
    is_decoration,
)
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.office_xml import attribute, child, every, kind
from antiphon.knowledge.readers.ooxml import Package, Relation, branches
from antiphon.knowledge.readers.paragraphs import row
from antiphon.knowledge.readers.plain_text import one_line

MOST_SLIDES = 2_000
_TITLES = ("title", "ctrTitle")
_LISTS = ("body", "obj", "")
"""Placeholders whose paragraphs have bullets unless they switch them off."""
_FOOTERS = ("ftr", "dt", "hdr")
# Parts of the speaker's printed page, and the number, which is the place already.
_NOT_OF_NOTES = ("sldNum", "hdr", "ftr", "dt", "sldImg")
_MEDIA = ("a:videoFile", "a:audioFile", "a:wavAudioFile")


def read(data: bytes) -> Content:
    """Reads a presentation; a place is its slide, under the slide's title."""
    package = Package("a presentation", "p:presentation", data)
    deck = _Deck(package)
    lines = deck.lines()
    first_title = next((line.heading for line in lines if line.place), "")
    title = first_title or package.title
    return content_of(lines, {}, title or None, deck.losses.words)


class _Deck:
    """Walks one presentation."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._relations: Mapping[str, Relation] = {}
        self._title_shape: etree._Element | None = None
        self._footers: set[str] = set()
        self.losses = Losses()
        self._handlers: dict[str, Callable[[etree._Element], Iterator[Line]]] = {
            "p:sp": self._shape,
            "p:pic": self._picture,
            "p:oleObj": self._embedded,
            "a:tbl": _table,
            "mc:AlternateContent": self._alternate,
        }
        self._handlers |= dict.fromkeys(GRAPHICS, self._graphic)

    def lines(self) -> list[Line]:
        lines: list[Line] = []
        slides = self._package.relations(self._package.main)
        listed = every(self._package.root, "p:sldId")
        for number, each in enumerate(listed, start=1):
            if number > MOST_SLIDES:
                break
            relation = slides.get(attribute(each, "r:id"))
            if relation is not None:
                lines += self._slide(number, relation.part)
        return lines

    def _slide(self, number: int, part: str) -> list[Line]:
        shapes = self._open(part)
        if shapes is None:
            return []
        self._title_shape = next(filter(_is_title, every(shapes, "p:sp")), None)
        title = "" if self._title_shape is None else _plain(self._title_shape)
        body = list(self._shapes(shapes))
        body += self._about(part)
        # Usually a title becomes the place of its slide; that of a lesson, and one without other text, is also text.
        is_alone = not any(line.text for line in body)
        if is_alone or title.lower().startswith("lesson"):
            body.insert(0, Line(title))
        return [BLANK, Line("", place=f"slide {number}", heading=title), *body]

    def _open(self, part: str) -> etree._Element | None:
        try:
            root = self._package.read(part)
            self._relations = self._package.relations(part)
        except UnreadableError:
            self.losses.add(Loss.PART)
            return None
        return root

    def _about(self, part: str) -> Iterator[Line]:
        """Yields the speaker's notes to a slide."""
        for relation in self._package.relations(part).values():
            if relation.type == "notesSlide":
                notes = self._open(relation.part)
                if notes is not None:
                    yield from self._notes(notes)
            elif relation.type == "comments":
                comments = self._open(relation.part)
                if comments is not None:
                    self.losses.add(Loss.COMMENT, len(comments))

    def _notes(self, notes: etree._Element) -> Iterator[Line]:
        for shape in every(notes, "p:sp"):
            if _placeholder(shape) not in _NOT_OF_NOTES:
                yield BLANK
                for paragraph in every(shape, "a:p"):
                    yield Line(one_line(drawn_text(paragraph)))
                    yield BLANK

    def _shapes(self, shapes: etree._Element) -> Iterator[Line]:
        """Yields the text of shapes in order, looking through groups."""
        for each in shapes:
            handler = self._handlers.get(kind(each), self._shapes)
            if each is not self._title_shape:
                yield from handler(each)

    def _shape(self, shape: etree._Element) -> Iterator[Line]:
        if not self._is_repeated(shape):
            yield from _text(shape)

    def _is_repeated(self, shape: etree._Element) -> bool:
        """Returns True for a slide's number, which is its place already, and for a footer that has been read before."""
        filled = _placeholder(shape)
        if filled not in _FOOTERS:
            return filled == "sldNum"
        text = _plain(shape)
        was_read = text in self._footers
        self._footers.add(text)
        return was_read

    def _graphic(self, element: etree._Element) -> Iterator[Line]:
        yield from graphic(element, self._package, self._relations, self.losses)

    def _embedded(self, _: etree._Element) -> Iterator[Line]:
        self.losses.add(Loss.EMBEDDED)
        yield BLANK

    def _picture(self, picture: etree._Element) -> Iterator[Line]:
        if any(True for name in _MEDIA for _ in every(picture, name)):
            self.losses.add(Loss.MEDIA)
            return
        says = description(picture)
        if says:
            yield BLANK
            yield Line(f"[picture: {says}]")
            yield BLANK
        elif not is_decoration(picture):
            self.losses.add(Loss.DRAWING)

    def _alternate(self, element: etree._Element) -> Iterator[Line]:
        """Yields the first form of a thing with any text, because programs show only one of them."""
        lost = self.losses.counted()
        for branch in branches(element):
            self.losses.reset(lost)
            lines = list(self._shapes(branch))
            if any(line.text for line in lines):
                yield from lines
                return


def _placeholder(shape: etree._Element) -> str | None:
    """Returns the type of a placeholder shape, "" for one without a type, None for any other shape."""
    found = child(shape, "p:nvSpPr/p:nvPr/p:ph")
    return None if found is None else found.get("type", "")


def _is_title(shape: etree._Element) -> bool:
    return _placeholder(shape) in _TITLES


def _plain(shape: etree._Element) -> str:
    return one_line(" ".join([drawn_text(each) for each in every(shape, "a:p")]))


def _text(shape: etree._Element) -> Iterator[Line]:
    has_bullets = _placeholder(shape) in _LISTS
    numbers: dict[str, int] = {}
    yield BLANK
    for paragraph in every(shape, "a:p"):
        words = one_line(drawn_text(paragraph))
        if not words:
            continue
        mark = _mark(paragraph, has_bullets, numbers)
        yield Line(f"{mark} {words}".strip())
        if not mark:
            yield BLANK


def _mark(paragraph: etree._Element, has_bullets: bool, numbers: dict[str, int]) -> str:
    """Returns the bullet or the number before a paragraph; `numbers` holds the last one of each level."""
    properties = child(paragraph, "a:pPr")
    level = "0" if properties is None else properties.get("lvl", "0")
    for deeper in [each for each in numbers if each > level]:
        del numbers[deeper]
    automatic = child(properties, "a:buAutoNum")
    if automatic is not None:
        start = automatic.get("startAt", "1")
        first = int(start) if start.isdecimal() else 1
        numbers[level] = numbers.get(level, first - 1) + 1
        return f"{numbers[level]}."
    numbers.pop(level, None)
    if child(properties, "a:buNone") is not None:
        return ""
    return "-" if has_bullets or child(properties, "a:buChar") is not None else ""


def _table(table: etree._Element) -> Iterator[Line]:
    yield BLANK
    for each in every(table, "a:tr"):
        cells = []
        for cell in every(each, "a:tc"):
            if cell.get("hMerge") not in ("1", "true"):
                cells.append(
                    one_line(" ".join([drawn_text(p) for p in every(cell, "a:p")]))
                )
        if any(cells):
            yield row(cells)
    yield BLANK
