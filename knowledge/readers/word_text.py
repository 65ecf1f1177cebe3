"""Reads the words of a Word paragraph, run by run, and the content beside it: notes, text boxes, charts, pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lxml import etree

from antiphon.knowledge.readers.content import BLANK, Line
from antiphon.knowledge.readers.drawings import (
    GRAPHICS,
    description,
    drawn_text,
    graphic,
    is_decoration,
)
from antiphon.knowledge.readers.equations import linear
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.office_xml import (
    attribute,
    child,
    every,
    is_on,
    kind,
    value,
)
from antiphon.knowledge.readers.ooxml import Package, branches
from antiphon.knowledge.readers.paragraphs import joined
from antiphon.knowledge.readers.plain_text import clean, one_line
from antiphon.knowledge.readers.word_styles import (
    ParagraphStyle,
    Styles,
    is_monospaced,
)

REMOVED = frozenset(
    {"w:del", "w:moveFrom", "w:pPr", "w:rPr", "w:sdtPr", "w:tblPr", "w:sectPr"}
)
"""Elements without visible text."""
_SIGNS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "-",
}
# A character that XML cannot hold; it surrounds formulas until their neighbours are known.
_FORMULA_EDGE = "\x1f"
_TOUCHING_FORMULA = re.compile(rf"(?<=\w){_FORMULA_EDGE}+(?=\w)")
# The font "Symbol" has Greek letters in place of Latin ones
# (https://www.unicode.org/Public/MAPPINGS/VENDORS/ADOBE/symbol.txt).
_LATIN = "ABGDEZHQIKLMNXOPRSTUFCYWabgdezhqiklmnxoprstufcywV"
_GREEK = "ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩαβγδεζηθικλμνξοπρστυφχψως"
_SYMBOLS = dict(zip(_LATIN, _GREEK, strict=True)) | {
    "\xa3": "≤", "\xa5": "∞", "\xae": "→", "\xb0": "°", "\xb1": "±", "\xb3": "≥", "\xb4": "\u00d7", "\xb7": "•",
    "\xb9": "≠", "\xbb": "≈", "\xce": "∈", "\xde": "⇒", "\xe5": "∑", "\xf2": "∫",
}  # fmt: skip
_FIRST_PRIVATE, _LAST_PRIVATE = 0xE000, 0xF8FF


class Words:
    """Collects the words of one paragraph.

    Attributes:
        beside: The content beside the paragraph.
    """

    def __init__(self) -> None:
        self.beside: list[Line] = []
        self._parts: list[str] = []
        self._fonts: set[bool] = set()
        # One for each open field: True until its instruction ends.
        self._in_instruction: list[bool] = []

    @property
    def text(self) -> str:
        text = _TOUCHING_FORMULA.sub(" ", "".join(self._parts))
        return clean(text.replace(_FORMULA_EDGE, ""))

    @property
    def is_monospaced(self) -> bool:
        """Returns True if all of the text is set in a font for programs."""
        return self._fonts == {True}

    @property
    def size(self) -> tuple[int, int]:
        """Returns a value that changes whenever something is added."""
        return len(self._parts), len(self.beside)

    def add(self, text: str | None) -> None:
        if text and not any(self._in_instruction):
            self._parts.append(text)

    def add_in_font(self, text: str | None, is_monospaced: bool) -> None:
        self.add(text)
        if text and text.strip():
            self._fonts.add(is_monospaced)

    def place_beside(self, text: str) -> None:
        if text:
            self.beside += (Line(text), BLANK)

    def follow_field(self, change: str) -> None:
        """Follows a field from its instruction to its result, which is the visible part."""
        if change == "begin":
            self._in_instruction.append(True)
        elif self._in_instruction:
            self._in_instruction.pop()
            if change == "separate":
                self._in_instruction.append(False)


class TextWalk:
    """Reads the words of paragraphs.

    Args:
        notes: The notes of the document, by the names of their elements and their ids.
        blocks: Reads the paragraphs and tables within an element.
    """

    def __init__(
        self,
        package: Package,
        styles: Styles,
        notes: dict[tuple[str, str], etree._Element],
        blocks: Callable[[etree._Element], Iterator[Line]],
        losses: Losses,
    ) -> None:
        self._package = package
        self._relations = package.relations(package.main)
        self._styles = styles
        self._notes = notes
        self._blocks = blocks
        self._losses = losses
        # The styles of the current paragraph and the current run.
        self._style = ParagraphStyle()
        self._is_monospaced = False
        self._handlers: dict[str, Callable[[etree._Element, Words], None]] = {
            "w:t": self._text,
            "w:r": self._run,
            "w:sym": self._symbol,
            "w:ruby": self._ruby,
            "w:fldChar": self._field,
            "w:footnoteReference": self._note,
            "w:endnoteReference": self._note,
            "m:oMath": self._equation,
            "w:txbxContent": self._box,
            "a:p": self._drawn,
            "v:textpath": self._word_art,
            "w:drawing": self._drawing,
            "w:pict": self._drawing,
            "w:object": self._object,
            "mc:AlternateContent": self._alternate,
        }
        self._handlers |= dict.fromkeys(GRAPHICS, self._graphic)

    def words(self, paragraph: etree._Element, style: ParagraphStyle) -> Words:
        """Reads one paragraph with its style."""
        words = Words()
        outer, self._style = self._style, style
        self._walk(paragraph, words)
        self._style = outer
        return words

    def _walk(self, element: etree._Element, words: Words) -> None:
        """Walks an element: text has a few element names, wrappers have many."""
        for each in element:
            name = kind(each)
            handler = self._handlers.get(name)
            if handler is not None:
                handler(each, words)
            elif name in _SIGNS:
                words.add(_SIGNS[name])
            elif name not in REMOVED:
                self._walk(each, words)

    def _text(self, element: etree._Element, words: Words) -> None:
        words.add_in_font(element.text, self._is_monospaced)

    def _run(self, run: etree._Element, words: Words) -> None:
        properties = child(run, "w:rPr")
        style = self._style
        own_style = value(properties, "w:rStyle")
        is_hidden = is_on(properties, "w:vanish")
        own_font = is_monospaced(run)
        if own_style is not None:
            resolved = self._styles.resolve(own_style)
            if is_hidden is None and resolved.is_hidden:
                is_hidden = True
            if own_font is None:
                own_font = resolved.is_monospaced
        if own_font is None:
            own_font = style.is_monospaced
        if is_hidden is None:
            is_hidden = style.is_hidden
        self._is_monospaced = own_font or False
        if not is_hidden:
            self._walk(run, words)

    def _symbol(self, element: etree._Element, words: Words) -> None:
        try:
            code = int(attribute(element, "w:char"), 16)
        except ValueError:
            return
        if _FIRST_PRIVATE <= code <= _LAST_PRIVATE:
            # Symbol fonts have their signs at former byte values; the letters are known only for this font.
            sign = chr(code & 0xFF)
            is_known = attribute(element, "w:font").lower() == "symbol"
            words.add(_SYMBOLS.get(sign, sign) if is_known else " ")
        else:
            words.add(chr(code))

    def _ruby(self, element: etree._Element, words: Words) -> None:
        """Reads a word, then its pronunciation, which is first in the file and above the word on the page."""
        for name, opened, closed in (("w:rubyBase", "", ""), ("w:rt", "(", ")")):
            part = child(element, name)
            if part is not None:
                words.add(opened)
                self._walk(part, words)
                words.add(closed)

    def _field(self, element: etree._Element, words: Words) -> None:
        words.follow_field(attribute(element, "w:fldCharType"))

    def _note(self, reference: etree._Element, words: Words) -> None:
        # Each note is read once, because one that refers to itself would be endless.
        name = kind(reference).removesuffix("Reference")
        note = self._notes.pop((name, attribute(reference, "w:id")), None)
        if note is not None:
            text = joined(self._blocks(note))
            words.place_beside(f"[note: {text}]" if text else "")

    def _equation(self, element: etree._Element, words: Words) -> None:
        words.add(f"{_FORMULA_EDGE}{linear(element).strip()}{_FORMULA_EDGE}")

    def _box(self, element: etree._Element, words: Words) -> None:
        words.beside += (BLANK, *self._blocks(element), BLANK)

    def _drawn(self, element: etree._Element, words: Words) -> None:
        words.place_beside(one_line(drawn_text(element)))

    def _word_art(self, element: etree._Element, words: Words) -> None:
        words.place_beside(one_line(element.get("string", "")))

    def _graphic(self, element: etree._Element, words: Words) -> None:
        words.beside += graphic(element, self._package, self._relations, self._losses)

    def _drawing(self, element: etree._Element, words: Words) -> None:
        before = words.size
        self._walk(element, words)
        if words.size == before and _is_picture(element):
            says = description(element)
            if says:
                words.place_beside(f"[picture: {says}]")
            elif not is_decoration(element):
                self._losses.add(Loss.DRAWING)

    def _object(self, element: etree._Element, words: Words) -> None:
        for each in every(element, "o:OLEObject"):
            is_formula = each.get("ProgID", "").startswith("Equation")
            self._losses.add(Loss.FORMULA if is_formula else Loss.EMBEDDED)
            return
        self._drawing(element, words)

    def _alternate(self, element: etree._Element, words: Words) -> None:
        """Reads the first form of a thing with any text, because programs show only one of them."""
        before = words.size
        lost = self._losses.counted()
        for branch in branches(element):
            self._losses.reset(lost)
            self._walk(branch, words)
            if words.size != before:
                return


def _is_picture(element: etree._Element) -> bool:
    pictures = ("pic:pic", "v:imagedata", "w:contentPart")
    return any(True for name in pictures for _ in every(element, name))
