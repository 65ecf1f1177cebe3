"""Evaluates the styles of a Word document: headings, titles, lists, programs, and hidden text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from lxml import etree

from antiphon.knowledge.readers.office_xml import attribute, child, every, is_on, value
from antiphon.knowledge.readers.paragraphs import CODE_STYLES
from antiphon.vocabulary.values import Value

T = TypeVar("T")

_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_ITEMS = ("list bullet", "list number")
_MONOSPACED = re.compile(
    r"courier|consol|\bmono\b|menlo|monaco|code pro|fira code|cascadia|typewriter",
    re.IGNORECASE,
)
_DEEPEST = 20
"""Longest chain of styles, each based on the next."""
_TEXT_LEVEL = 9
"""The outline level of text that is no heading."""


class ListPlace(NamedTuple):
    """A place in a list: the list's number, and the level."""

    list_id: str
    level: int


class ParagraphStyle(Value, frozen=True, kw_only=True):
    """The effective style of a paragraph, or of a part of it.

    Attributes:
        level: Of the heading; 0 for text.
        is_monospaced: None if it sets no font.
        place: The list that its paragraphs belong to.
    """

    level: int = 0
    is_title: bool = False
    is_code: bool = False
    is_item: bool = False
    is_hidden: bool = False
    is_monospaced: bool | None = None
    place: ListPlace | None = None


def outline_level(properties: etree._Element | None) -> int | None:
    """Returns the heading level that properties set, 0 for text, or None if they set none."""
    found = value(properties, "w:outlineLvl")
    if found is None or not found.isdecimal():
        return None
    level = int(found)
    return 0 if level >= _TEXT_LEVEL else level + 1


def is_monospaced(element: etree._Element | None) -> bool | None:
    """Returns True for a run or a style whose font is one for programs, or None if it sets none."""
    fonts = child(element, "w:rPr/w:rFonts")
    name = "" if fonts is None else attribute(fonts, "w:ascii")
    return _MONOSPACED.search(name) is not None if name else None


def list_place(properties: etree._Element | None) -> ListPlace | None:
    """Returns the place in a list that properties set; a list of the number "0" is none."""
    list_id = value(properties, "w:numPr/w:numId")
    if list_id is None:
        return None
    level = value(properties, "w:numPr/w:ilvl") or "0"
    return ListPlace(list_id, int(level) if level.isdecimal() else 0)


class Styles:
    """The styles of one document.

    Args:
        root: The root of the part that declares them, if there is one.
    """

    def __init__(self, root: etree._Element | None) -> None:
        self._declared: dict[str, etree._Element] = {}
        self._resolved: dict[str, ParagraphStyle] = {}
        if root is not None:
            for each in every(root, "w:style"):
                self._declared[attribute(each, "w:styleId")] = each

    def resolve(self, style_id: str | None) -> ParagraphStyle:
        """Returns a style combined with its ancestors."""
        name = style_id or ""
        if name not in self._resolved:
            self._resolved[name] = self._resolve(list(self._chain(name)))
        return self._resolved[name]

    def _chain(self, style_id: str) -> Iterator[etree._Element]:
        """Yields a style and its ancestors, the nearest first."""
        for _ in range(_DEEPEST):
            style = self._declared.get(style_id)
            if style is None:
                return
            yield style
            style_id = value(style, "w:basedOn") or ""

    def _resolve(self, chain: list[etree._Element]) -> ParagraphStyle:
        names: list[str] = []
        levels: list[int | None] = []
        places: list[ListPlace | None] = []
        hidden: list[bool | None] = []
        fonts: list[bool | None] = []
        for style in chain:
            # Names are the same in every language; ids are not.
            names.append((value(style, "w:name") or "").lower())
            properties = child(style, "w:pPr")
            levels.append(outline_level(properties))
            places.append(list_place(properties))
            hidden.append(is_on(style, "w:rPr/w:vanish"))
            fonts.append(is_monospaced(style))
        levels += map(_named_level, names)
        return ParagraphStyle(
            level=_first(levels) or 0,
            is_title="title" in names and "subtitle" not in names,
            is_code=not CODE_STYLES.isdisjoint(names),
            is_item=_is_item(names),
            is_hidden=_first(hidden) or False,
            is_monospaced=_first(fonts),
            place=_first(places),
        )


def _is_item(names: list[str]) -> bool:
    return any(name.startswith(_ITEMS) for name in names)


def _named_level(name: str) -> int | None:
    found = _HEADING.match(name)
    return None if found is None else int(found[1])


def _first(found: list[T | None]) -> T | None:
    """Returns the first value that is set."""
    return next((each for each in found if each is not None), None)
