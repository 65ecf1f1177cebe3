"""Converts a web page to lines: headings, lists, tables, code and formulas keep their shape."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree, html

from antiphon.knowledge.readers.content import BLANK, Line, code_lines
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.mathml import formula
from antiphon.knowledge.readers.page_furniture import is_furniture, is_unseen
from antiphon.knowledge.readers.plain_text import clean, one_line

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCK_TAGS = """
    address article aside blockquote body button caption center dd details dialog div dl dt fieldset figcaption figure
    footer form header hr html legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr
    ul
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
_LISTS = ("ol", "ul", "menu")
_SEVERAL = ("p", "ul", "ol", "pre", "blockquote")
# Other things embedded in a page that are not its text.
_EMBEDDED = frozenset(("iframe", "object", "embed", "video", "audio", "svg"))
_VIDEO = re.compile(r"youtu|vimeo|video|wistia|loom|panopto|bilibili", re.IGNORECASE)
_TEX = "math/tex"
_POWER = re.compile(r"\s{0,9}[-+\u2212]?(?!st|nd|rd|th)\w{1,3}\s{0,9}")
_ICON_PX = 40
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language-|lang-|highlight-(?:source-)?|sourceCode |brush:\s?)([\w+#.-]{1,30})"
)
_NO_LANGUAGE = frozenset(
    ("default", "none", "notranslate", "plaintext", "text", "plain")
)
_NEAR_PRE = 4
_ENDED = re.compile(r".*[^\w\s)\]\"']")


def is_layout(table: html.HtmlElement) -> bool:
    """Returns True for a table that lays out a page and holds no data."""
    if table.get("role") in ("presentation", "none"):
        return True
    if any(other is not table for other in table.iter("table")):
        return True
    cells = list(table.iter("td", "th"))
    if len(cells) < 2:
        return True
    if any(cell.tag == "th" for cell in cells) or table.find("caption") is not None:
        return False
    if next(table.iter(*_HEADINGS, "pre"), None) is not None:
        return True
    return any(len(list(cell.iterchildren(*_SEVERAL))) > 1 for cell in cells)


class PageLines:
    """Converts a page to lines: collects text until a block begins or ends.

    Args:
        losses: Notes the parts that are not read.
        with_furniture: True to read its menus too.
    """

    def __init__(self, losses: Losses, with_furniture: bool = False) -> None:
        self._losses = losses
        self._with_furniture = with_furniture
        self._lines: list[Line] = []
        self._words: list[str] = []
        self._item = ""
        # The number of the next item of each open list, innermost last; None if it has no numbers.
        self._lists: list[int | None] = []
        # For each open table, innermost last: True if it holds data.
        self._tables: list[bool] = []
        self._row: list[str] | None = None
        # The open heading or program, whose blocks are no paragraphs.
        self._holds: html.HtmlElement | None = None

    def lines(self, parts: Iterable[html.HtmlElement]) -> list[Line]:
        """Walks the parts of a page without recursion, because they may be as deeply nested as the parser allows."""
        for part in parts:
            self._walk(part)
            self._flush()
            self._lines.append(BLANK)
        return self._lines

    def _walk(self, part: html.HtmlElement) -> None:
        walk = etree.iterwalk(part, events=("start", "end", "comment", "pi"))
        skipped: html.HtmlElement | None = None
        for event, element in walk:
            if event == "start" and self._is_left_out(element):
                walk.skip_subtree()
                skipped = element
            elif event == "start":
                self._start(element)
            elif event == "end" and element is not skipped:
                self._end(element)
            # The text after any element belongs to the page.
            if event != "start" and element.tail and element is not part:
                self._words.append(element.tail)

    def _is_left_out(self, element: html.HtmlElement) -> bool:
        """Returns True for an element that is not read as text, after noting its replacement or loss."""
        tag = element.tag
        if tag == "script" and _TEX in element.get("type", ""):
            self._words.append(f"${element.text_content().strip()}$")
        if is_unseen(element):
            return True
        if not self._with_furniture and is_furniture(element):
            return True
        if tag == "math":
            self._words.append(f" {formula(element)} ")
            return True
        if tag in _EMBEDDED:
            self._embedded(element)
            return True
        return False

    def _embedded(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag == "svg":
            texts = [one_line(text.text_content()) for text in element.iter("text")]
            self._words.append(f" {' '.join(texts)} ")
        elif tag == "audio":
            self._losses.add(Loss.SOUND)
        elif tag == "video" or _VIDEO.search(element.get("src", "")[:500]):
            self._losses.add(Loss.VIDEO)
        elif not _is_icon(element):
            self._losses.add(Loss.PAGE)

    def _start(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag in _HEADINGS or tag in _BLOCKS:
            self._flush()
            self._start_block(element)
        else:
            self._words.append(self._inline(element))
        if element.text:
            self._words.append(element.text)

    def _start_block(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag == "pre" or tag in _HEADINGS:
            self._holds = element
        elif tag == "table":
            self._tables.append(not is_layout(element))
        elif tag == "tr" and self._tables and self._tables[-1]:
            self._row = []
        elif tag in _LISTS:
            self._lists.append(_first_number(element))
        elif tag == "li":
            self._item = self._next_item()

    def _inline(self, element: html.HtmlElement) -> str:
        """Returns the mark before an element's text."""
        tag = element.tag
        if tag == "br":
            return "\n"
        if tag == "rt":
            return "("
        # Marked, so that 10 to the sixth does not become 106.
        if tag == "sup" and _POWER.fullmatch(element.text or ""):
            return "^"
        if tag == "img" and not _is_icon(element):
            described = self._losses.picture(
                element.get("alt", ""), element.get("src", "")
            )
            return f" {described} "
        return ""

    def _next_item(self) -> str:
        number = self._lists[-1] if self._lists else None
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number}. "

    def _end(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self._heading(element)
        elif tag == "pre":
            self._code(element)
        elif tag in ("table", "tr", "td", "th"):
            self._end_of_table(tag)
        elif tag == "dt":
            self._term()
        elif tag == "rt":
            self._words.append(")")
        elif tag in _BLOCKS:
            self._end_block(tag)

    def _end_block(self, tag: str) -> None:
        self._flush()
        if tag == "li":
            # An item without words must not pass its number to other text.
            self._item = ""
        elif self._holds is None and self._row is None:
            self._lines.append(BLANK)
        if tag in _LISTS:
            self._lists.pop()

    def _end_of_table(self, tag: str) -> None:
        if self._row is None:
            self._flush()
            self._lines.append(BLANK)
        elif tag in ("td", "th"):
            self._row.append(self._take())
        elif tag == "tr":
            self._lines.append(Line(f"| {' | '.join(self._row)} |"))
            self._row = None
            self._words.clear()
        if tag == "table":
            self._row = None
            self._tables.pop()

    def _heading(self, element: html.HtmlElement) -> None:
        self._holds = None
        if self._row is not None:
            return
        self._lines.append(BLANK)
        own = element.get("id", "")
        anchor = "" if any(map(str.isspace, own)) else own
        level = _HEADINGS[element.tag]
        self._lines.append(Line(self._take(), level=level, fragment=anchor))

    def _code(self, element: html.HtmlElement) -> None:
        self._holds = None
        if self._row is None:
            code = clean("".join(self._words))
            self._words.clear()
            if code.strip():
                self._lines += code_lines(code, _language(element))

    def _term(self) -> None:
        """Ends a term so that its meaning follows on the same line."""
        words = self._take()
        if words:
            self._lines.append(Line(words if _ENDED.fullmatch(words) else f"{words}:"))

    def _flush(self) -> None:
        """Ends the current line, except within a row, a heading or a program."""
        if self._holds is not None or self._row is not None:
            if self._words and not self._words[-1].endswith("\n"):
                self._words.append("\n")
            return
        text = clean("".join(self._words))
        self._words.clear()
        for line in text.split("\n"):
            words = " ".join(line.split())
            # Separators between links back and forth.
            if words.strip("|\u00b7\u2022"):
                self._lines.append(Line(self._item + words))
                self._item = ""

    def _take(self) -> str:
        words = one_line("".join(self._words))
        self._words.clear()
        return words


def _first_number(element: html.HtmlElement) -> int | None:
    if element.tag != "ol":
        return None
    start = element.get("start", "1")
    return int(start) if start.isascii() and start.isdecimal() and len(start) < 7 else 1


def _is_icon(element: html.HtmlElement) -> bool:
    """Returns True for a picture that is decoration or too small to show anything."""
    for side in (element.get("width", ""), element.get("height", "")):
        if (
            side.isascii()
            and side.isdecimal()
            and len(side) < 3
            and int(side) <= _ICON_PX
        ):
            return True
    return bool(element.get("role") == "presentation")


def _language(element: html.HtmlElement) -> str:
    """Returns the language of a program from an element in or around it; empty if none names it."""
    named = [element, *element.iterchildren("code"), *element.iterancestors()]
    for each in named[: _NEAR_PRE + 1]:
        language = each.get("data-lang") or ""
        found = _LANGUAGE.search(each.get("class", ""))
        if found is not None:
            language = found[1]
        if language and language not in _NO_LANGUAGE:
            return language[:30]
    return ""
