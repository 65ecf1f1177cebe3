"""Evaluates the styles of an OpenDocument: titles, programs, hidden text, and the numbers of lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lxml import etree

from antiphon.knowledge.readers.office_xml import attribute, child, every, kind
from antiphon.knowledge.readers.paragraphs import BULLET
from antiphon.knowledge.readers.word_lists import written

_DEEPEST = 20
"""Longest chain of styles, each based on the next."""
_FORMS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
}


class Styles:
    """The styles of one document.

    Args:
        roots: The roots of the parts that declare them.
    """

    def __init__(self, roots: Iterable[etree._Element]) -> None:
        self._declared: dict[str, etree._Element] = {}
        self._lists: dict[str, etree._Element] = {}
        for root in roots:
            for each in every(root, "style:style"):
                self._declared[attribute(each, "style:name")] = each
            for each in every(root, "text:list-style"):
                self._lists[attribute(each, "style:name")] = each

    def _chain(self, name: str) -> Iterator[etree._Element]:
        for _ in range(_DEEPEST):
            style = self._declared.get(name)
            if style is None:
                return
            yield style
            name = attribute(style, "style:parent-style-name")

    def names(self, name: str) -> set[str]:
        """Returns the names of a style and of its ancestors, in lower case."""
        names = {name}
        for style in self._chain(name):
            names.add(attribute(style, "style:display-name"))
            names.add(attribute(style, "style:parent-style-name"))
        return {each.replace("_20_", " ").lower() for each in names}

    def is_hidden(self, name: str) -> bool:
        for style in self._chain(name):
            properties = child(style, "style:text-properties")
            if properties is not None:
                display = attribute(properties, "text:display")
                if display:
                    return display == "none"
        return False

    def list_label(self, name: str, level: int, number: int) -> str:
        """Returns the label of an item in a list of a style: `BULLET`, its number, or nothing."""
        declared = self._lists.get(name)
        if declared is None:
            return BULLET
        for each in declared:
            if attribute(each, "text:level") == str(level):
                return _label(each, number)
        return BULLET


def _label(level: etree._Element, number: int) -> str:
    if kind(level) != "text:list-level-style-number":
        return BULLET
    form = attribute(level, "style:num-format")
    if not form:
        return ""
    start = attribute(level, "text:start-value")
    first = int(start) if start.isdecimal() else 1
    shown = written(first + number - 1, _FORMS.get(form, "decimal"))
    before = attribute(level, "style:num-prefix")
    return f"{before}{shown}{attribute(level, 'style:num-suffix')}".strip()
