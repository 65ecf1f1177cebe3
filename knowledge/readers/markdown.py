"""Reads Markdown: headings by level, text without its markup, front matter for title, link and instructor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape

from markdown_it import MarkdownIt
from markdown_it.common.html_blocks import block_names
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.front_matter import lines_of, split_front_matter
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.navigation import (
    is_navigation,
    leads_to_top,
    without_contents,
)
from antiphon.knowledge.readers.plain_text import decode
from antiphon.knowledge.readers.site_markup import MATH, plain_markdown

_TAG = re.compile(r"<!--.*?(?:-->|\Z)|</?([A-Za-z][\w-]*)([^<>]{0,1000})>", re.DOTALL)
_BREAK = re.compile(r"<br\b", re.IGNORECASE)
_HIDDEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|$)", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(
    r"<h(?P<level>[1-6])\b[^<>]{0,500}>(?P<heading>.*?)(?:</h(?P=level)\s{0,9}>|\Z)"
    r"|<tr\b[^<>]{0,500}>(?P<row>.*?)(?:</tr\s{0,9}>|\Z)"
    r"|<pre\b[^<>]{0,500}>(?P<code>.*?)(?:</pre\s{0,9}>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CELL_END = re.compile(r"</t[dh]\s{0,9}>\s{0,999}(?=<t[dh]\b)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"\b(alt|src)\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE
)
_FORMULA = re.compile(
    r"\$\$[^$]{1,2000}\$\$|\$(?![\s$])[^$\n]{0,500}(?<![\s\\])\$(?!\d)|\\\\\(.{1,1000}?\\\\\)",
    re.DOTALL,
)
# Inline elements of HTML; the parser knows the block elements. Without `s`, which in a text about language marks the
# beginning of a sentence far more often than struck text.
_INLINE_TAGS = """
    a abbr audio b bdi bdo br button canvas cite code data del dfn em font i img input ins kbd label map mark math meter
    object output picture progress q ruby rb rp rt rtc samp select small span strike strong sub sup svg textarea time tt
    u var video wbr
"""
_LANGUAGES = {"ipython3": "python", "ipython": "python", "python3": "python"}
_TAGS = frozenset(_INLINE_TAGS.split()).union(block_names)


def read(data: bytes) -> Content:
    """Reads a Markdown file; its front matter may name title, link, instructor and lesson."""
    matter = split_front_matter(decode(data))
    losses = Losses()
    lines = [*lines_of(matter.values), *markdown_lines(matter.rest, losses)]
    return content_of(lines, matter.values, losses=losses.words)


def markdown_lines(text: str, losses: Losses) -> list[Line]:
    """Renders Markdown as lines of plain text; headings keep their level, lists, tables and code their shape."""
    plain, is_mdx = plain_markdown(text, losses)
    tokens = _parser(is_mdx).parse(plain)
    return list(_Rendering(tokens, losses).lines())


@lru_cache(maxsize=2)
def _parser(is_mdx: bool) -> MarkdownIt:
    """Returns the shared parser, because making one takes longer than reading most texts."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.inline.ruler.before("escape", "formula", _formula)
    return parser.disable("code") if is_mdx else parser


def _formula(state: StateInline, silent: bool) -> bool:
    """Takes a formula literally: its underscores and stars are no markup."""
    found = _FORMULA.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        state.push("text", "", 0).content = found[0]
    state.pos = found.end()
    return True


class _Rendering:
    """Converts one document's tokens to lines."""

    def __init__(self, tokens: Sequence[Token], losses: Losses) -> None:
        self._tokens = tokens
        self._losses = losses
        # The marks of the open lists, innermost last: "- ", or the number of the next item.
        self._lists: list[int | None] = []
        self._item = ""
        self._row: list[str] | None = None

    def lines(self) -> Iterator[Line]:
        level = 0
        for token in without_contents(self._tokens):
            if token.type == "heading_open":
                level = int(token.tag[1:])
            elif token.type == "inline":
                yield from self._inline(token, level)
                level = 0
            elif token.type in ("fence", "code_block"):
                yield from _code(token)
            elif token.type == "html_block":
                yield from self._html(_HIDDEN.sub(" ", token.content))
            else:
                yield from self._structure(token)

    def _inline(self, token: Token, level: int) -> Iterator[Line]:
        text = self._words(token)
        if level:
            yield BLANK
            yield Line(" ".join(text.split()), level=level)
        elif self._row is not None:
            self._row.append(" ".join(text.split()))
        elif is_navigation(token.children or ()):
            self._item = ""
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

    def _words(self, token: Token) -> str:
        """Returns the visible text of an inline token."""
        parts: list[str] = []
        for child in token.children or ():
            if child.type in ("softbreak", "hardbreak"):
                parts.append("\n")
            elif child.type in ("text", "code_inline"):
                parts.append(child.content)
            elif child.type == "image":
                address = str(child.attrGet("src") or "")
                parts.append(self._losses.picture(child.content, address))
            elif child.type == "html_inline":
                parts.append(self._shown(child.content))
        return "".join(parts)

    def _shown(self, tag: str) -> str:
        """Returns the visible text of an inline tag."""
        if _BREAK.match(tag):
            return "\n"
        found = _TAG.match(tag)
        return tag if found is None else self._tag(found, "")

    def _tag(self, found: re.Match[str], between: str) -> str:
        """Returns the visible text of a tag or a comment; `<unk>` and `<branch>` are words of the text."""
        name = (found[1] or "").lower()
        if name and name not in _TAGS:
            return found[0]
        if name == "img":
            attributes = {
                attribute.lower(): unescape(one or other)
                for attribute, one, other in _ATTRIBUTE.findall(found[2])
            }
            alt, src = attributes.get("alt", ""), attributes.get("src", "")
            return f"{between}{self._losses.picture(alt, src)}{between}"
        if name in ("iframe", "video") and not found[0].startswith("</"):
            self._losses.add(Loss.VIDEO)
        return between

    def _html(self, html: str) -> Iterator[Line]:
        """Yields the lines of a block of HTML; its headings, programs and rows of tables keep their shape."""
        yield BLANK
        end = 0
        for found in _BLOCK.finditer(html):
            yield from self._plain(html[end : found.start()])
            end = found.end()
            if found["level"]:
                heading = " ".join(self._without_tags(found["heading"]).split())
                yield Line(heading, level=int(found["level"]))
            elif found["row"] is not None:
                row = _CELL_END.sub(" | ", found["row"])
                yield Line(f"| {' '.join(self._without_tags(row).split())} |")
            else:
                yield from code_lines(self._without_tags(found["code"]))
        yield from self._plain(html[end:])
        yield BLANK

    def _plain(self, html: str) -> Iterator[Line]:
        for line in self._without_tags(html).split("\n"):
            if not leads_to_top(line):
                yield Line(line)

    def _without_tags(self, html: str) -> str:
        return unescape(_TAG.sub(lambda found: self._tag(found, " "), html))


def _code(token: Token) -> Iterator[Line]:
    language = token.info.strip().partition(" ")[0].partition(",")[0].strip("{}.")
    if language == MATH:
        yield BLANK
        for line in token.content.split("\n"):
            yield Line(line)
        yield BLANK
    else:
        yield from code_lines(token.content, _LANGUAGES.get(language, language))


def _first_number(token: Token) -> int | None:
    if token.type == "bullet_list_open":
        return None
    return int(token.attrGet("start") or 1)
