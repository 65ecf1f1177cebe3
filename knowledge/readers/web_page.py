"""HTML: the text that a page shows, without its menus and scripts."""

from __future__ import annotations

import re

from lxml import etree, html

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.plain_text import clean, decode, one_line

_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
# Nothing within them is the page's own text.
_HIDDEN_TAGS = """
    script style noscript template head nav footer aside form button select svg math iframe object canvas audio video
"""
_HIDDEN = frozenset(_HIDDEN_TAGS.split())
_BLOCK_TAGS = """
    address article blockquote body dd details div dl dt fieldset figcaption figure header hr html li main ol p pre
    section summary table tbody td tfoot th thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_TAGS.split())
# A model would read what is hidden so, and no reader of the page would know why it answers as it does.
_UNSEEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?:opacity|font-size)\s*:\s*0(?:\.0*)?(?![.\d])",
    re.IGNORECASE,
)
_META = frozenset({"author", "title", "instructor", "lesson"})


def read(data: bytes) -> Content:
    """Reads a web page; a place is the heading above, and its anchor where it has one."""
    # The encoding that a page declares is the one it is read in; without one it is read as any text is.
    if b"charset" in data[:2_048].lower() and b"\0" not in data:
        source: str | bytes = data
    else:
        source = decode(data)
    parser = html.HTMLParser(huge_tree=False)
    try:
        page = html.document_fromstring(source, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it is not a web page: {error}") from error
    # The parser leaves out what is deeper, and all that comes after.
    if "Excessive depth" in str(parser.error_log):
        raise UnreadableError("it is nested too deeply")
    return content_of(
        _Page().lines(_main_part(page)), _meta(page), page.findtext(".//title")
    )


def _main_part(page: html.HtmlElement) -> html.HtmlElement:
    """Returns the part that the page calls its main one; all of it where there is no such part, or more than one."""
    parts = page.findall(".//main")
    if len(parts) == 1 and parts[0].text_content().strip():
        return parts[0]
    return page


def _meta(page: html.HtmlElement) -> dict[str, object]:
    """Returns what the page says of itself in its head."""
    values: dict[str, object] = {}
    for element in page.iter("meta", "link"):
        name = element.get("name", "").lower()
        if name in _META:
            values[name] = clean(element.get("content", ""))
        elif element.get("rel") == "canonical":
            values["canonical"] = element.get("href", "")
    return values


def _is_hidden(element: html.HtmlElement) -> bool:
    """Returns True for what a reader of the page does not see, as far as the element says so itself."""
    if element.tag in _HIDDEN:
        return True
    if "hidden" in element.attrib:
        return True
    # A comment has attributes, and none of them is a text.
    return _UNSEEN_STYLE.search(element.get("style") or "") is not None


class _Page:
    """A page on its way to lines: text gathers until a block begins or ends."""

    def __init__(self) -> None:
        self._lines: list[Line] = []
        self._words: list[str] = []
        self._item = ""
        self._row: list[str] | None = None

    def lines(self, page: html.HtmlElement) -> list[Line]:
        """Walks the page without recursion: it may be nested as deeply as the parser lets it."""
        walk = etree.iterwalk(page, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            is_hidden = _is_hidden(element)
            if event == "start" and is_hidden:
                walk.skip_subtree()
            elif event == "start":
                self._start(element)
            elif event == "end" and not is_hidden:
                self._end(element)
            # Whatever it was, the text behind it is the page's.
            if event != "start" and element.tail and element is not page:
                self._words.append(element.tail)
        self._flush()
        return self._lines

    def _start(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag in _HEADINGS or tag in _BLOCKS:
            self._flush()
        if tag == "tr":
            self._row = []
        elif tag == "li":
            self._item = "- "
        elif tag == "br":
            self._words.append("\n")
        if element.text:
            self._words.append(element.text)

    def _end(self, element: html.HtmlElement) -> None:
        tag = element.tag
        if tag in _HEADINGS:
            self._heading(element)
        elif tag == "pre":
            self._lines += code_lines(clean("".join(self._words)))
            self._words.clear()
        elif tag in ("td", "th") and self._row is not None:
            self._row.append(self._take())
        elif tag == "tr" and self._row is not None:
            self._lines.append(Line(f"| {' | '.join(self._row)} |"))
            self._row = None
            self._words.clear()
        elif tag in _BLOCKS:
            self._flush()
            self._end_paragraph(tag)

    def _heading(self, element: html.HtmlElement) -> None:
        self._lines.append(BLANK)
        own = element.get("id", "")
        anchor = "" if any(map(str.isspace, own)) else own
        level = _HEADINGS[element.tag]
        self._lines.append(Line(self._take(), level=level, fragment=anchor))

    def _end_paragraph(self, tag: str) -> None:
        if tag != "li":
            self._lines.append(BLANK)

    def _flush(self) -> None:
        """Ends the line that was begun; within a table's row the words go on."""
        if self._row is not None:
            return
        text = clean("".join(self._words))
        self._words.clear()
        for line in text.split("\n"):
            words = " ".join(line.split())
            if words:
                self._lines.append(Line(self._item + words))
                self._item = ""

    def _take(self) -> str:
        words = one_line("".join(self._words))
        self._words.clear()
        return words
