"""The bullets and numbers that Word puts before the items of lists and before numbered headings."""

from __future__ import annotations

from collections import defaultdict

from lxml import etree

from antiphon.knowledge.readers.office_xml import attribute, every, value
from antiphon.knowledge.readers.paragraphs import BULLET
from antiphon.knowledge.readers.word_styles import ListPlace

_LEVELS = 9
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_LARGEST_ROMAN = 4_999


class Lists:
    """Counts the items of one document's lists while it is read.

    Args:
        root: The root of the part that declares them, if there is one.
    """

    def __init__(self, root: etree._Element | None) -> None:
        self._lists: dict[str, etree._Element] = {}
        self._forms: dict[str, etree._Element] = {}
        self._levels: dict[str, dict[int, etree._Element]] = {}
        # Lists of one form continue each other's count.
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._begun: set[tuple[str, int]] = set()
        if root is not None:
            for each in every(root, "w:num"):
                self._lists[attribute(each, "w:numId")] = each
            for each in every(root, "w:abstractNum"):
                self._forms[attribute(each, "w:abstractNumId")] = each

    def label(self, place: ListPlace) -> str:
        """Counts one more item, and returns its label: `BULLET`, its number, or nothing."""
        numbering = self._lists.get(place.list_id)
        if numbering is None or not 0 <= place.level < _LEVELS:
            return ""
        form_id = value(numbering, "w:abstractNumId") or ""
        if place.list_id not in self._levels:
            self._levels[place.list_id] = self._declared_levels(numbering, form_id)
        levels = self._levels[place.list_id]
        level = levels.get(place.level)
        counts = self._counts[form_id]
        self._count(counts, place, numbering, level)
        if level is None or value(level, "w:numFmt") == "bullet":
            return BULLET
        text = value(level, "w:lvlText") or ""
        for number in range(place.level + 1):
            count = counts.get(number, _start(levels.get(number)))
            form = value(levels.get(number), "w:numFmt") or "decimal"
            text = text.replace(f"%{number + 1}", written(count, form))
        return " ".join(text.split())

    def _declared_levels(
        self, numbering: etree._Element, form_id: str
    ) -> dict[int, etree._Element]:
        levels = {}
        for declared in (self._forms.get(form_id), numbering):
            if declared is not None:
                for each in every(declared, "w:lvl"):
                    levels[_whole(attribute(each, "w:ilvl"))] = each
        return levels

    def _count(
        self,
        counts: dict[int, int],
        place: ListPlace,
        numbering: etree._Element,
        level: etree._Element | None,
    ) -> None:
        restart = None
        if place not in self._begun:
            self._begun.add(place)
            restart = _restart(numbering, place.level)
        if restart is not None:
            counts[place.level] = restart
        elif place.level in counts:
            counts[place.level] += 1
        else:
            counts[place.level] = _start(level)
        for deeper in [each for each in counts if each > place.level]:
            del counts[deeper]


def _restart(numbering: etree._Element, level: int) -> int | None:
    """Returns the number at which a list restarts, if it does not continue another of its form."""
    for each in every(numbering, "w:lvlOverride"):
        start = value(each, "w:startOverride")
        if start is not None and _whole(attribute(each, "w:ilvl")) == level:
            return _whole(start)
    return None


def _start(level: etree._Element | None) -> int:
    return _whole(value(level, "w:start") or "1")


def _whole(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def written(number: int, form: str) -> str:
    """Writes a number in one of the forms of Latin scripts; in other forms as digits."""
    if form == "none":
        return ""
    if form in ("lowerLetter", "upperLetter") and number > 0:
        # After "z" comes "aa", then "bb".
        times, place = divmod(number - 1, len(_LETTERS))
        letters = _LETTERS[place] * min(times + 1, _LEVELS)
        return letters.upper() if form == "upperLetter" else letters
    if form in ("lowerRoman", "upperRoman") and 0 < number <= _LARGEST_ROMAN:
        roman = _roman(number)
        return roman.upper() if form == "upperRoman" else roman
    return str(number)


def _roman(number: int) -> str:
    written = ""
    for size, letters in _ROMAN:
        times, number = divmod(number, size)
        written += letters * times
    return written
