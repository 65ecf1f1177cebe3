"""Reads HTML: the visible text of a page, without its menus and scripts."""

from __future__ import annotations

import email
import re
from collections.abc import Sequence

from lxml import etree, html

from antiphon.knowledge.readers.content import (
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.losses import Losses
from antiphon.knowledge.readers.page_furniture import is_main, shown_length
from antiphon.knowledge.readers.page_lines import PageLines
from antiphon.knowledge.readers.plain_text import clean, decode

_META = frozenset({"author", "title", "instructor"})
_DECLARED = (
    re.compile(rb"<meta\b[^>]{0,500}?\bcharset\s{0,9}=[\s\"']{0,9}([\w:.-]{1,40})", re.I),
    re.compile(rb"\s{0,99}<\?xml\b[^>]{0,200}?\bencoding\s{0,9}=\s{0,9}[\"']([\w.-]{1,40})"),
)  # fmt: skip
_ARCHIVED = re.compile(
    rb"(?:[\w-]{1,40}:[^\n]{0,500}\n(?:[ \t][^\n]{0,500}\n){0,9}){0,9}MIME-Version:",
    re.I,
)
# XHTML may close any element this way, HTML none: an empty title would take the whole page for its words.
_CLOSED = re.compile(
    r"<((?:title|script|style|textarea|a|div|span|p|i|b|td|th|li|section|iframe)\b[^<>]{0,500})/>",
    re.I,
)
_LEAST_MAIN_SHARE = 0.2
_HEAD_LENGTH = 1_000


def read(data: bytes) -> Content:
    """Reads a web page; a place is the heading above, and its anchor if it has one."""
    page = parse_page(_unpacked(data))
    losses = Losses()
    lines = page_lines(page, losses)
    return content_of(lines, _meta(page), page.findtext(".//title"), losses.words)


def page_lines(page: html.HtmlElement, losses: Losses) -> list[Line]:
    """Returns a page's lines; a page that is all menu is read with it."""
    lines = PageLines(losses).lines(_own_parts(page))
    if not any(line.text for line in lines):
        lines = PageLines(losses, with_furniture=True).lines([page])
    return lines


def parse_page(data: bytes) -> html.HtmlElement:
    """Parses HTML or XHTML of any encoding.

    Raises:
        UnreadableError: It is not HTML, or nested too deeply.
    """
    text = decode(data, _declared(data))
    if "<?xml" in text[:_HEAD_LENGTH] or "xhtml" in text[:_HEAD_LENGTH]:
        text = _CLOSED.sub(lambda found: f"<{found[1]}></{found[1].split()[0]}>", text)
    # The page's declaration has been used already.
    parser = html.HTMLParser(huge_tree=False, encoding="utf-8")
    try:
        page = html.document_fromstring(text.encode(), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(f"it is not a web page: {error}") from error
    # The parser drops deeper elements, and everything after them.
    if "Excessive depth" in str(parser.error_log):
        raise UnreadableError("it is nested too deeply")
    return page


def _unpacked(data: bytes) -> bytes:
    """Returns the page in a web archive (.mht), which is a mail message; returns any other file unchanged."""
    if _ARCHIVED.match(data) is None:
        return data
    letter = email.message_from_bytes(data)
    for part in letter.walk():
        if part.get_content_type() == "text/html":
            content = part.get_payload(decode=True)
            return content if isinstance(content, bytes) else data
    return data


def _declared(data: bytes) -> str:
    for pattern in _DECLARED:
        found = pattern.search(data)
        if found is not None:
            return found[1].decode()
    return ""


def _own_parts(page: html.HtmlElement) -> Sequence[html.HtmlElement]:
    """Returns the parts that a page marks as main, and its articles, in order.

    It returns the whole page if that marks no main part, or only a small one.
    """
    named = [
        each
        for each in page.iter("main", "article", "div", "section")
        if each.tag == "article" or is_main(each)
    ]
    around = set(named)
    parts = [each for each in named if around.isdisjoint(each.iterancestors())]
    # A single article may be one of many teasers, or a comment.
    if not any(map(is_main, named)):
        return [page]
    length = sum(map(shown_length, parts))
    return parts if length >= shown_length(page) * _LEAST_MAIN_SHARE else [page]


def _meta(page: html.HtmlElement) -> dict[str, object]:
    """Returns the fields in the page's head."""
    values: dict[str, object] = {}
    for element in page.iter("meta", "link"):
        name = element.get("name", "").lower()
        if name in _META:
            values[name] = clean(element.get("content", ""))
        elif element.get("rel") == "canonical":
            values["canonical"] = element.get("href", "")
    return values
