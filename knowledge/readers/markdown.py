"""Markdown: headings by level, text without its markup, front matter for title, link and instructor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import yaml
from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.token import Token

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.plain_text import decode

_FRONT_MATTER = re.compile(
    r"\s*---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|$)", re.DOTALL
)
_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?([A-Za-z][\w-]*)[^<>]{0,1000}>", re.DOTALL)
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|$)", re.DOTALL | re.IGNORECASE)
# Elements of HTML that stand within a line; those that make a block the parser knows. Without `s`, which in a text
# about language is the beginning of a sentence far more often than struck text.
_INLINE_TAGS = """
    a abbr audio b bdi bdo br button canvas cite code data del dfn em font i img input ins kbd label map mark math meter
    object output picture progress q ruby rb rp rt rtc samp select small span strike strong sub sup svg textarea time tt
    u var video wbr
"""
_TAGS = frozenset(_INLINE_TAGS.split()).union(block_names)


def read(data: bytes) -> Content:
    """Reads a Markdown file; its front matter may name title, link, instructor and lesson."""
    text = decode(data)
    values: dict[str, object] = {}
    found = _FRONT_MATTER.match(text)
    if found is not None:
        values = _front_matter(found.group(1))
        text = text[found.end() :]
    return content_of(markdown_lines(text), values)


def _front_matter(text: str) -> dict[str, object]:
    """Reads the front matter's fields; one that is not well formed says nothing."""
    try:
        values = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(values, dict):
        return {}
    return {str(name).lower(): value for name, value in values.items()}


def markdown_lines(text: str) -> list[Line]:
    """Renders Markdown as lines of plain text; headings keep their level, lists, tables and code their shape."""
    return list(_Rendering(_parser().parse(text)).lines())


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    """Returns the one parser, which takes longer to make than most texts to read."""
    return MarkdownIt("commonmark").enable("table")


class _Rendering:
    """One document's tokens on their way to lines."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        # The marks of the lists that are open, innermost last: "- ", or the number of the next item.
        self._lists: list[int | None] = []
        self._item = ""
        self._row: list[str] | None = None

    def lines(self) -> Iterator[Line]:
        level = 0
        for token in self._tokens:
            if token.type == "heading_open":
                level = int(token.tag[1:])
            elif token.type == "inline":
                yield from self._inline(token, level)
                level = 0
            elif token.type in ("fence", "code_block"):
                yield from code_lines(token.content)
            elif token.type == "html_block":
                yield from _plain(_without_tags(_HIDDEN.sub(" ", token.content)))
            else:
                yield from self._structure(token)

    def _inline(self, token: Token, level: int) -> Iterator[Line]:
        text = _words(token)
        if level:
            yield BLANK
            yield Line(" ".join(text.split()), level=level)
        elif self._row is not None:
            self._row.append(" ".join(text.split()))
        else:
            first, self._item = self._item, ""
            for part in text.split("\n"):
                yield Line(first + part)
                first = ""

    def _structure(self, token: Token) -> Iterator[Line]:
        """Follows lists and tables, and ends paragraphs."""
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open"):
            self._lists.append(_first_number(token))
        elif kind in ("bullet_list_close", "ordered_list_close"):
            self._lists.pop()
            yield BLANK
        elif kind == "list_item_open":
            self._item = self._next_item()
        elif kind == "tr_open":
            self._row = []
        elif kind == "tr_close" and self._row is not None:
            yield Line(f"| {' | '.join(self._row)} |")
            self._row = None
        elif kind == "table_close" or (kind == "paragraph_close" and not self._lists):
            yield BLANK

    def _next_item(self) -> str:
        number = self._lists[-1]
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number}. "


def _first_number(token: Token) -> int | None:
    if token.type == "bullet_list_open":
        return None
    return int(token.attrGet("start") or 1)


def _words(token: Token) -> str:
    """Returns the text that a reader sees of an inline token."""
    parts: list[str] = []
    for child in token.children or ():
        if child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type in ("text", "code_inline", "image"):
            parts.append(child.content)
        elif child.type == "html_inline":
            parts.append(_shown(child.content))
    return "".join(parts)


def _shown(tag: str) -> str:
    """Returns what a reader sees of a tag within a line."""
    if _BREAK.match(tag):
        return "\n"
    if _is_tag(tag):
        return ""
    return tag


def _is_tag(text: str) -> bool:
    """Returns True for a tag of HTML or a comment; `<unk>` and `<branch>` are words of the text."""
    found = _TAG.match(text)
    return found is None or found[1] is None or found[1].lower() in _TAGS


def _without_tags(text: str) -> str:
    def shown(found: re.Match[str]) -> str:
        return " " if _is_tag(found[0]) else found[0]

    return _TAG.sub(shown, text)


def _plain(text: str) -> Iterator[Line]:
    yield BLANK
    for line in text.split("\n"):
        yield Line(line)
    yield BLANK
