"""Finds the addresses in a text that a page or a program would follow; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# The beginning of an address in plain text; a bare scheme ("http://") leads nowhere.
_PLAIN = re.compile(
    r"(?:\b[A-Za-z][A-Za-z0-9+.\-]{1,20}://|\bwww\.|\b(?:mailto|data|javascript|vbscript|tel|sms):(?!\s))"
    r"[^\s<>\"`|\\^{}\[\]]+",
    re.IGNORECASE,
)
# The targets of Markdown's links, pictures and references, and of HTML's, which may be written without a scheme.
_TARGETS = re.compile(
    r"\]\(\s*<?([^)\s>]+)"
    r"|^[ ]{0,3}\[[^\]\n]{1,200}\]:[ \t]*<?([^\s>]+)"
    r"|\b(?:src|href|action|background|poster)\s*=\s*[\"']?([^\"'\s>]+)",
    re.IGNORECASE | re.MULTILINE,
)
_SIGN = re.compile(r":\S|\][:(]|=")
_LEADS_AWAY = re.compile(r"[/:?]")
_TRAILING = ".,;:!?'\"*_~"
_ORIGIN = re.compile(r"^[a-z][a-z0-9+.\-]*://[^/?#]*", re.IGNORECASE)


class FoundLink(NamedTuple):
    """An address, and its place in the text."""

    start: int
    end: int
    address: str


def links_in(text: str) -> list[FoundLink]:
    """Returns the addresses in a text, in order, none within another."""
    if not _may_hold_link(text):
        return []
    spans: list[tuple[int, int]] = []
    for found in _TARGETS.finditer(text):
        group = found.lastindex or 0
        target = found.group(group)
        # A link within the page leads nowhere else; and `handlers[0](event)` is a call.
        if not target.startswith("#") and _LEADS_AWAY.search(target):
            spans.append(found.span(group))
    for found in _PLAIN.finditer(text):
        start, end = found.span()
        spans.append((start, start + len(_without_trailing(text[start:end]))))
    links: list[FoundLink] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if links and start < links[-1].end:
            continue
        links.append(FoundLink(start, end, text[start:end]))
    return links


def _may_hold_link(text: str) -> bool:
    """Returns False for most texts, which then need no search: each pattern above needs one of these signs."""
    return _SIGN.search(text) is not None or "www." in text.lower()


def comparable(address: str) -> str:
    """Returns an address in a form for comparison: scheme and host in lower case, without a slash at its end."""
    address = _ORIGIN.sub(lambda found: found.group().lower(), address)
    return address.rstrip("/")


def leads_to_one_of(address: str, known: Iterable[str]) -> bool:
    """Returns True if an address is a known one, or the beginning of one up to a whole part of its path."""
    wanted = comparable(address)
    longer = (f"{wanted}/", f"{wanted}?", f"{wanted}#")
    return any(each == wanted or each.startswith(longer) for each in known)


def _without_trailing(address: str) -> str:
    while address:
        if address[-1] in _TRAILING or (
            address[-1] == ")" and address.count("(") < address.count(")")
        ):
            address = address[:-1]
        else:
            break
    return address
