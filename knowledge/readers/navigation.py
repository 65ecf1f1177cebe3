"""Recognises lines of Markdown that only lead to other pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from markdown_it.token import Token

_LONGEST = 300
_ARROW = "[←→⬅➡⏮⏭⬆↑«»◀▶🔙🔝]"
_LEADS_AWAY = re.compile(
    rf".*{_ARROW}.*|(?:back|return) to\b.*|(?:next|previous|prev|continue|home|up|top)\b.{{0,60}}|table of contents",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN_LINKS = re.compile(
    r"(?:\W*(?:next|previous|prev|back|up|home|continue to|table of contents)\b(?: (?:up|lesson|chapter|step|page))?)?"
    r"\W*",
    re.IGNORECASE,
)
_ALONE = re.compile(
    r"\W*(?:back to (?:the )?top|top of (?:the )?page)\W*", re.IGNORECASE
)


def leads_to_top(line: str) -> bool:
    """Returns True for a line that only leads back to the top of its page."""
    return len(line) < _LONGEST and _ALONE.fullmatch(line) is not None


def without_contents(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yields a page's tokens without lists of links within the page, which only repeat its headings."""
    end = 0
    for at, token in enumerate(tokens):
        if at < end:
            continue
        if token.type.endswith("_list_open"):
            end = _end_of_contents(tokens, at)
        if at >= end:
            yield token


def _end_of_contents(tokens: Sequence[Token], start: int) -> int:
    """Returns the end of a list of contents that opens at `start`, and 0 for another list."""
    entries = 0
    for at in range(start, len(tokens)):
        token = tokens[at]
        if token.level == tokens[start].level and token.nesting == -1:
            return at + 1 if entries > 1 else 0
        if token.type == "inline":
            links, beside = _split(token.children or ())
            is_entry = len(links) == 1 and links[0].address.startswith("#")
            if not is_entry or any(map(str.isalnum, "".join(beside))):
                return 0
            entries += 1
    return 0


class _Link(NamedTuple):
    text: str
    address: str


def is_navigation(children: Sequence[Token]) -> bool:
    """Returns True for a paragraph or an item of links back and forth, or of several links within the page."""
    links, beside = _split(children)
    if sum(map(len, beside)) + sum(len(link.text) for link in links) > _LONGEST:
        return False
    if not links:
        return leads_to_top("".join(beside))
    if not all(map(_BETWEEN_LINKS.fullmatch, beside)):
        return False
    if len(links) > 1 and all(link.address.startswith("#") for link in links):
        return True
    says_where = any(map(str.isalpha, "".join(beside)))
    return says_where or any(_LEADS_AWAY.fullmatch(link.text.strip()) for link in links)


def _split(children: Sequence[Token]) -> tuple[list[_Link], list[str]]:
    """Returns the links of a paragraph, and the pieces of text around them."""
    links: list[_Link] = []
    beside: list[str] = []
    is_within = False
    for child in children:
        if child.type == "link_open":
            links.append(_Link("", str(child.attrGet("href") or "")))
            is_within = True
        elif child.type == "link_close":
            is_within = False
        elif is_within:
            links[-1] = links[-1]._replace(text=links[-1].text + child.content)
        else:
            beside.append(child.content)
    return links, beside
