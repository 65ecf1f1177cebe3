"""Renders TeX formulas in Markdown as MathML, using only elements that can do no harm.

Text between `$…$`, `$$…$$`, `\\(…\\)` and `\\[…\\]` is read as one piece, in which nothing else is Markdown. A dollar
is taken for money or a shell variable unless it fits pandoc's rule
(https://pandoc.org/MANUAL.html#extension-tex_math_dollars). A formula that cannot be drawn appears as its source.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererProtocol
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from math_core import LatexError, LatexToMathML

MOST_CHARS = 2_000
"""A longer formula appears as its source."""
MOST_LINES = 50
MOST_NESTING = 50
"""The deepest nesting of braces: the converter is recursive, and would exhaust the process's stack."""
MOST_HTML_CHARS = 50_000

MATH_ELEMENTS = {
    "math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "mspace", "msqrt", "mstyle",
    "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
_LEVEL = {"displaystyle", "scriptlevel"}
MATH_ATTRIBUTES = {
    "math": {"display"},
    "mfrac": _LEVEL | {"linethickness"},
    "mi": {"mathvariant"},
    "mo": {"form", "lspace", "maxsize", "minsize", "movablelimits", "rspace", "stretchy", "symmetric"},
    "mover": {"accent"},
    "mrow": _LEVEL,
    "mspace": {"width"},
    "mstyle": _LEVEL,
    "mtable": _LEVEL,
    "munder": {"accentunder"},
    "munderover": {"accent", "accentunder"},
}  # fmt: skip

PLACES = "places"
"""The key in the reader's environment for the pattern of citation marks, which are moved from a formula to its end."""

_FORMULA = "formula"
_PENDING = "pending_formula"
_INLINE = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))
_BLOCK = (("$$", "$$"), ("\\[", "\\]"))
_ELEMENT = re.compile(r"<([a-z]+)")
_HUGE = re.compile(r'="-?\d{3}')
"""A length of three digits, by which a formula could cover the rest of the page."""
_SIGNS = re.compile(r"[\\^_{=]")
"""Signs that amounts of money, process ids and references do not contain."""
# Stricter than pandoc's rule, which forbids only digits there: `$HOME:$PATH` and `US$5 or 7$` are not formulas.
_NOT_BEHIND_A_DOLLAR = re.compile(r"[0-9A-Z_{]")


def read_formulas(reader: MarkdownIt) -> None:
    """Lets a reader of Markdown read formulas."""
    reader.inline.ruler.before("escape", _FORMULA, _read_inline)
    interrupts = ["paragraph", "reference", "blockquote", "list"]
    reader.block.ruler.before("fence", _FORMULA, _read_block, {"alt": interrupts})
    reader.add_render_rule(_FORMULA, _render)
    reader.add_render_rule(_PENDING, _render_pending)


def formulas_in(tokens: Sequence[Token]) -> dict[str, str]:
    """Returns the formulas that can be drawn, as MathML, by their source."""
    found: dict[str, str] = {}
    for token in tokens:
        found |= formulas_in(token.children or ())
        drawn = _drawn(token) if token.type == _FORMULA else None
        if drawn is not None:
            found[token.info] = drawn
    return found


def formula_html(tex: str, *, is_display: bool) -> str | None:
    """Returns a formula as MathML; None if it cannot be drawn."""
    if len(tex) > MOST_CHARS or _nesting(tex) > MOST_NESTING:
        return None
    try:
        html = _converter().convert_with_local_state(tex, displaystyle=is_display)
    except LatexError:
        return None
    # Dropping a foreign element, such as a line that strikes through a term, could change a formula's meaning.
    if not MATH_ELEMENTS.issuperset(_ELEMENT.findall(html)):
        return None
    if len(html) > MOST_HTML_CHARS or _HUGE.search(html):
        return None
    return html


@cache
def _converter() -> LatexToMathML:
    # No macros: a few characters can expand to millions.
    return LatexToMathML(max_expansions=0, fancy_error=False)


def _nesting(tex: str) -> int:
    depth = deepest = 0
    for sign in re.findall("[{}]", tex):
        depth += 1 if sign == "{" else -1
        deepest = max(deepest, depth)
    return deepest


def _read_inline(state: StateInline, silent: bool) -> bool:
    for opening, closing in _INLINE:
        if not state.src.startswith(opening, state.pos):
            continue
        if "$" in opening and state.src[state.pos - 1 : state.pos].isalnum():
            return False
        start = state.pos + len(opening)
        end = _end(state.src, start, closing)
        if end is None:
            return False
        if not silent:
            token = state.push(_FORMULA, "math", 0)
            token.content = state.src[start:end]
            token.info = state.src[state.pos : end + len(closing)]
            token.meta = {"display": opening in ("$$", "\\[")}
        state.pos = end + len(closing)
        return True
    return False


def _end(text: str, start: int, closing: str) -> int | None:
    """Returns the end of a formula within a paragraph; None if the text is not a formula."""
    last = start + MOST_CHARS
    end = text.find(closing, start, last)
    while closing == "$" and end > 0 and _is_escaped(text, end):
        end = text.find(closing, end + 1, last)
    tex = text[start:end]
    if end < 0 or not tex.strip():
        return None
    behind = text[end + len(closing) : end + len(closing) + 1]
    return end if _is_formula(tex, closing, behind) else None


def _is_formula(tex: str, closing: str, behind: str) -> bool:
    """Returns False for text that merely happens to be between dollars or escaped brackets."""
    if closing == "\\)":
        return True
    if closing == "\\]":
        return bool(_SIGNS.search(tex))
    is_padded = tex[0].isspace() or tex[-1].isspace()
    # A display formula may be padded with spaces or line breaks, but then it must contain a sign of mathematics.
    if is_padded and (closing == "$" or not _SIGNS.search(tex)):
        return False
    return not ("`" in tex or _NOT_BEHIND_A_DOLLAR.match(behind))


def _is_escaped(text: str, at: int) -> bool:
    before = text[max(0, at - 100) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _read_block(
    state: StateBlock, start_line: int, _end_line: int, silent: bool
) -> bool:
    if state.is_code_block(start_line):
        return False
    first = _line(state, start_line)
    for opening, closing in _BLOCK:
        if first.startswith(opening):
            lines = _lines(state, start_line, closing)
            return _push(state, start_line, lines, closing, silent=silent)
    return False


def _lines(state: StateBlock, start_line: int, closing: str) -> list[str]:
    """Returns the lines of a formula up to its end, or that of the text; nothing if it is not a formula."""
    lines = [_line(state, start_line)]
    rest = lines[0][2:]
    while closing not in rest:
        at = start_line + len(lines)
        if at >= state.lineMax:
            return lines
        # A formula ends with its paragraph at the latest.
        if state.isEmpty(at) or state.sCount[at] < state.blkIndent:
            return []
        # Bounded, because each of many lines may begin a formula, and would search all that follow.
        if len(lines) >= MOST_LINES:
            return []
        rest = _line(state, at)
        lines.append(rest)
    # With text after its end on the same line it is part of a paragraph.
    return lines if rest.find(closing) == len(rest) - len(closing) else []


def _push(
    state: StateBlock,
    start_line: int,
    lines: Sequence[str],
    closing: str,
    *,
    silent: bool,
) -> bool:
    """Adds the token of a formula; returns False if the lines are not one."""
    written = "\n".join(lines)
    is_closed = written[2:].endswith(closing)
    tex = written[2 : -len(closing)]
    if len(written) > MOST_CHARS or not tex.strip():
        return False
    if not silent:
        token = state.push(_FORMULA if is_closed else _PENDING, "math", 0)
        token.info = written
        token.content = tex
        token.meta = {"display": True}
        token.block = True
        token.map = [start_line, start_line + len(lines)]
        state.line = start_line + len(lines)
    return True


def _line(state: StateBlock, at: int) -> str:
    return state.src[state.bMarks[at] + state.tShift[at] : state.eMarks[at]].rstrip()


def _drawn(token: Token) -> str | None:
    return formula_html(token.content, is_display=token.meta["display"])


def _render(
    _renderer: RendererProtocol,
    tokens: Sequence[Token],
    at: int,
    _options: OptionsDict,
    environment: MutableMapping[str, Any],
) -> str:
    token = tokens[at]
    places = ""
    pattern: re.Pattern[str] | None = environment.get(PLACES)
    if pattern is not None:
        places = "".join(pattern.findall(token.content))
        token.content = pattern.sub("", token.content)
        token.info = pattern.sub("", token.info)
    drawn = _drawn(token)
    html = f"<code>{escapeHtml(token.info)}</code>" if drawn is None else drawn
    html += places
    return f"<p>{html}</p>\n" if token.block else html


def _render_pending(
    _renderer: RendererProtocol,
    tokens: Sequence[Token],
    at: int,
    _options: OptionsDict,
    _environment: MutableMapping[str, Any],
) -> str:
    """Renders the source of a formula whose end is still to come, or never comes."""
    return f"<p>{escapeHtml(tokens[at].info)}</p>\n"
