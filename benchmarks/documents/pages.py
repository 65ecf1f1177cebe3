"""The words that a person reads on a web page, by a separate parser and rules.

The rules leave out what the HTML standard does not count as a page's text:
https://html.spec.whatwg.org/multipage/sections.html and https://html.spec.whatwg.org/multipage/grouping-content.html.
- Scripts, templates, form controls and elements hidden by their own attributes: nobody sees them.
- `nav`, `header` and `footer`: they are the same on every page of a site. If there is a `main`, so is everything
  outside it and any `article`.
- Three or more lines with only links: a menu, which older sites do not mark as one. This also leaves out real lists of
  links.
- Text under `aria-hidden`: it is decoration, or a repetition.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import groupby
from typing import NamedTuple

_UNSEEN = re.compile(
    "title|script|style|template|noscript|nav|header|footer|svg|iframe|select|button|textarea|datalist|annotation|rp"
)
_VOID = re.compile("area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr")
_INLINE = re.compile(
    "a|abbr|b|bdi|cite|code|em|font|i|kbd|mark|q|rp|rt|ruby|s|samp|small|span|strong|sub|sup|u|var|mi|mn|mo|mrow|ms|mtext"
)
_FEWEST_LINKS = 3


class _Run(NamedTuple):
    """A piece of text, or the end of a line."""

    text: str
    is_link: bool = False
    is_main: bool = False
    is_article: bool = False


class _Page(HTMLParser):
    """Collects the visible text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.runs: list[_Run] = []
        self._unseen: list[str] = []
        self._is_link = False
        self._open = {"main": 0, "article": 0}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_hidden = _UNSEEN.fullmatch(tag) is not None or _hides(dict(attrs))
        if (self._unseen or is_hidden) and not _VOID.fullmatch(tag):
            self._unseen.append(tag)
        self._is_link |= tag == "a"
        if tag in self._open:
            self._open[tag] += 1
        self._ended(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._unseen:
            while self._unseen.pop() != tag:
                continue
        self._is_link &= tag != "a"
        if self._open.get(tag):
            self._open[tag] -= 1
        self._ended(tag)

    def _ended(self, tag: str) -> None:
        if _INLINE.fullmatch(tag) is None:
            self.runs.append(_Run("\n"))

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            is_main, is_article = self._open["main"] > 0, self._open["article"] > 0
            self.runs.append(_Run(data, self._is_link, is_main, is_article))


def _hides(values: dict[str, str | None]) -> bool:
    style = (values.get("style") or "").replace(" ", "").lower()
    is_hidden = "hidden" in values or values.get("aria-hidden") == "true"
    return is_hidden or "display:none" in style or "visibility:hidden" in style


def shown(page: str) -> str:
    """Returns the text that a web page shows."""
    parser = _Page()
    parser.feed(page)
    parser.close()
    kept = []
    for is_menu, together in groupby(_lines(parser.runs), key=_is_linked):
        texts = list(map(_words, together))
        if not is_menu or len(texts) < _FEWEST_LINKS:
            kept += texts
    return "\n".join(kept)


def _lines(runs: list[_Run]) -> list[list[_Run]]:
    """Returns the lines with words; only those in the main part and in articles if the page marks a main part."""
    has_main = any(run.is_main and run.text.strip() for run in runs)
    lines: list[list[_Run]] = [[]]
    for run in runs:
        if run.text == "\n":
            lines.append([])
        elif run.is_main or run.is_article or not has_main:
            lines[-1].append(run)
    return [line for line in lines if _words(line)]


def _words(line: list[_Run]) -> str:
    return "".join(run.text for run in line).strip()


def _is_linked(line: list[_Run]) -> bool:
    """Returns True for a line that holds only links, with punctuation between them."""
    return all(run.is_link or not any(map(str.isalnum, run.text)) for run in line)
