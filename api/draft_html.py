"""An answer's text as safe HTML while it is written: each block once it is complete, and the open one as it is.

A block at the top of a text ends where the next one begins, and nothing that follows changes it: it is read and sent
once. The open block is read again as it grows, as if all that it has begun were closed, so that no sign of Markdown is
seen, and nothing moves when the answer is complete.
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
"""The open block is read again once it has grown by one part in so many, so that all the work is linear in the text."""
MOST_OPEN_CHARS = 10_000
"""A longer block is read again only when it has doubled: reading it takes so long that other queries would wait."""

_SIGNS = " \t>-+*_=#~`|:"
"""A last line of these alone, or of a number too, may become a list, a heading, a rule, a fence or a table's row."""
_LAST_SIGNS = re.compile(r"(?:[*_~`]{1,100}|\\)$")
_BACKTICKS = re.compile("`{1,100}")
_CODE = ("fence", "code_block")
_CLOSING = {"*": "*", "_": "_", "~": "~~"}
"""What closes emphasis, by the character that opens it."""


class TextHtml(
    msgspec.Struct, frozen=True, kw_only=True, tag="text_html", tag_field="kind"
):
    """What a call has written, as HTML, for those who asked for HTML; never recorded.

    Attributes:
        settled: Blocks that are complete now; they go behind those that were settled before.
        open: The block that is being written; it takes the place of the `open` before.
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
        # From the beginning of the open block.
        self._text = ""
        self._unread = ""

    def after(self, streamed: Recorded[Event] | Live) -> TextHtml | None:
        """Returns what is to be shown after this, or None if it is nothing new."""
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
        # Half a surrogate pair, which a server may send, is no text that can be encoded.
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
        # What a line begins is certain once the line is whole.
        tokens = _parsed(self._text.rpartition("\n")[0]).tokens
        begins = [at for at, token in enumerate(tokens) if _begins_block(token)]
        if len(begins) < 2:
            return ""
        last = begins[-1]
        first_line = (tokens[last].map or [0])[0]
        self._text = "\n".join(self._text.split("\n")[first_line:])
        return _rendered(tokens[:last])


class _Parsed(msgspec.Struct):
    """What Markdown makes of a text, and the emphasis that is open at its end."""

    tokens: Sequence[Token]
    closing: str

    @property
    def ends_in_code(self) -> bool:
        leaves = [token.type for token in self.tokens if token.nesting == 0]
        return bool(leaves) and leaves[-1] in _CODE

    @property
    def open_code(self) -> str:
        """The backticks that close code in the last line, if its end is still to come."""
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
    # The last row of a table is filled up with empty cells.
    if not state.src:
        return
    # What could as well close something, as in x*y, is most often no emphasis.
    signs = [
        _CLOSING[chr(each.marker)]
        for each in state.delimiters
        if each.open and not each.close and each.end < 0
    ]
    state.env["closing"] = "".join(reversed(signs))


def _begins_block(token: Token) -> bool:
    return token.level == 0 and token.nesting >= 0


def _as_if_closed(text: str) -> str:
    """Renders a block whose end is still to come."""
    parsed = _parsed(text)
    if parsed.ends_in_code:
        lines, _, last = text.rpartition("\n")
        # It may be the beginning of the fence that closes the code.
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
    """Returns the text without a last line that may become anything; the head of a table is followed by its rule."""
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
