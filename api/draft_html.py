"""Renders an answer's text as safe HTML while it is written: each block once it is complete, and the open one so far.

A top-level block is complete when the next one begins, and nothing that follows changes it, so it is rendered and sent
once. The open block is rendered again as it grows, with everything in it closed that it has begun: so the reader sees
no marks of Markdown, and nothing moves when the answer is complete.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import msgspec
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from antiphon.api.answer_html import MOST_CHARS, cleaned, new_reader
from antiphon.vocabulary.events import (
    Event,
    Live,
    ReasoningCompleted,
    Recorded,
    TextDelta,
    TextDiscarded,
)
from antiphon.vocabulary.outside import without_controls

GROWTH = 50
"""The open block is rendered again once it has grown by this fraction (1/50), so that the total work stays linear."""
MOST_OPEN_CHARS = 10_000
"""A longer block is rendered again only once it has doubled: it takes so long that other queries would wait."""

_SIGNS = " \t>-+*_=#~`|:"
"""A last line of only these, with or without a number, may become a list, a heading, a rule, a fence or a table row."""
_LAST_SIGNS = re.compile(r"(?:[*_~`]{1,100}|\\)$")
_BACKTICKS = re.compile("`{1,100}")
_CODE = ("fence", "code_block")
_CLOSING = {"*": "*", "_": "_", "~": "~~"}
"""The marks that close emphasis, by the character that opens it."""


class TextHtml(
    msgspec.Struct, frozen=True, kw_only=True, tag="text_html", tag_field="kind"
):
    """What a call has written, as HTML, for followers who asked for it; never recorded.

    Attributes:
        settled: Blocks that are complete now; append them to those that were settled before.
        open: The block that is being written; it replaces the previous `open`.
    """

    call_id: str
    settled: str
    open: str


class DraftHtml:
    """Turns the pieces of a reply's text into HTML as they come."""

    def __init__(self) -> None:
        self._begin("")

    def _begin(self, call_id: str) -> None:
        self._call_id = call_id
        self._chars = 0
        # The text of the open block; `_unread` is its end, which was not rendered yet.
        self._text = ""
        self._unread = ""

    def after(self, streamed: Recorded[Event] | Live) -> TextHtml | None:
        """Returns the HTML to show after this item, or None if nothing is new."""
        if isinstance(streamed, TextDelta):
            return self._after_text(streamed)
        if isinstance(streamed, TextDiscarded):
            self._begin("")
        elif isinstance(streamed.event, ReasoningCompleted):
            return self._after_reply(streamed.event)
        return None

    def _after_text(self, delta: TextDelta) -> TextHtml | None:
        if delta.call_id != self._call_id:
            self._begin(delta.call_id)
        # A server may send half a surrogate pair, which cannot be encoded.
        text = without_controls(delta.text).encode(errors="replace").decode()
        self._chars += len(text)
        self._unread += text
        known = len(self._text)
        due = known // GROWTH if known <= MOST_OPEN_CHARS else known
        if len(self._unread) < due or self._chars > MOST_CHARS:
            return None
        has_new_line = "\n" in self._unread
        self._text += self._unread
        self._unread = ""
        settled = self._settle() if has_new_line else ""
        return self._html(settled, _as_if_closed(self._text))

    def _after_reply(self, reply: ReasoningCompleted) -> TextHtml | None:
        if reply.call_id != self._call_id or self._chars > MOST_CHARS:
            return None
        rest = _parsed(self._text + self._unread)
        return self._html(_rendered(rest.tokens), "")

    def _html(self, settled: str, open_block: str) -> TextHtml:
        return TextHtml(call_id=self._call_id, settled=settled, open=open_block)

    def _settle(self) -> str:
        """Returns the HTML of the blocks that are complete, and keeps the open one."""
        # Only whole lines: the end of a line may still change what it begins.
        tokens = _parsed(self._text.rpartition("\n")[0]).tokens
        begins = [at for at, token in enumerate(tokens) if _begins_block(token)]
        if len(begins) < 2:
            return ""
        last = begins[-1]
        first_line = (tokens[last].map or [0])[0]
        self._text = "\n".join(self._text.split("\n")[first_line:])
        return _rendered(tokens[:last])


class _Parsed(msgspec.Struct):
    """A text as tokens of Markdown, with the marks that would close the emphasis open at its end."""

    tokens: Sequence[Token]
    closing: str

    @property
    def ends_in_code(self) -> bool:
        leaves = [token.type for token in self.tokens if token.nesting == 0]
        return bool(leaves) and leaves[-1] in _CODE

    @property
    def open_code(self) -> str:
        """The backticks that would close inline code that is open at the end of the text; empty if none is."""
        lines = [token for token in self.tokens if token.type == "inline"]
        last = [token for token in lines if token.content][-1:]
        for token in last:
            for child in token.children or ():
                found = _BACKTICKS.search(child.content)
                if child.type == "text" and found:
                    return found[0]
        return ""


def _parsed(text: str) -> _Parsed:
    found = {"closing": ""}
    tokens = _reader().parse(text, found)
    return _Parsed(tokens, found["closing"])


def _rendered(tokens: Sequence[Token]) -> str:
    reader = _reader()
    rendered: str = reader.renderer.render(tokens, reader.options, {})
    return cleaned(rendered)


@cache
def _reader() -> MarkdownIt:
    reader = new_reader()
    reader.inline.ruler2.push("open_emphasis", _note_open_emphasis)
    return reader


def _note_open_emphasis(state: StateInline) -> None:
    # The parser adds empty cells to the last row of a table, and calls this for each: they must not reset the result.
    if not state.src:
        return
    # A mark that could also close something, as in x*y, is mostly not emphasis.
    signs = [
        _CLOSING[chr(each.marker)]
        for each in state.delimiters
        if each.open and not each.close and each.end < 0
    ]
    state.env["closing"] = "".join(reversed(signs))


def _begins_block(token: Token) -> bool:
    return token.level == 0 and token.nesting >= 0


def _as_if_closed(text: str) -> str:
    """Renders a block whose end is still to come as if it ended here."""
    parsed = _parsed(text)
    if parsed.ends_in_code:
        lines, _, last = text.rpartition("\n")
        # The last line may be the beginning of the fence that closes the code, and is held back then.
        return _rendered(
            parsed.tokens if last.strip(" \t`~") else _parsed(lines).tokens
        )
    shown = _LAST_SIGNS.sub("", _with_decided_end(text)).rstrip()
    if shown != text:
        parsed = _parsed(shown)
    if parsed.open_code:
        shown += parsed.open_code
        parsed = _parsed(shown)
    if parsed.closing:
        parsed = _parsed(shown + parsed.closing)
    return _rendered(parsed.tokens)


def _with_decided_end(text: str) -> str:
    """Returns the text without a last line that may still become anything, and with the rule after a table's head."""
    *lines, last = text.split("\n")
    if not _is_undecided(last):
        lines.append(last)
    above = lines[-2] if len(lines) > 1 else ""
    if lines and _is_row(lines[-1]) and not _is_row(above):
        cells = lines[-1].strip().strip("|").split("|")
        lines.append("|" + "-|" * len(cells))
    return "\n".join(lines)


def _is_row(line: str) -> bool:
    return line.lstrip().startswith("|")


def _is_undecided(line: str) -> bool:
    rest = line.strip(_SIGNS)
    return not rest or (rest.rstrip(".)").isdigit() and "|" not in line)
