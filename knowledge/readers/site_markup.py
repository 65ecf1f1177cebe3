"""Removes the generators' additions from the Markdown of sites and books before it is parsed.

Jekyll and Hugo templates, MDX, Quarto, MyST, MkDocs, Carpentries. Lines first (fences, containers, admonitions), then
the text between programs; programs stay unchanged.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.knowledge.readers.front_matter import texts_in
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.template_tags import (
    components_of,
    notes_of,
    without_tags,
)

MATH = "math"
"""The language of a fence around a formula."""
_FENCE = re.compile(r"((?:\s*>)*\s*(?:(?:[-*+]|[0-9]{1,3}[.)])\s+)?)(`{3,}|~{3,})(.*)$")
_DIRECTIVE = re.compile(r"\s*\{([\w:+.#=-]{1,60})([^{}]{0,500})\}\s*(.*)$")
_OPTION = re.compile(r"\s*(?::[\w-]{1,60}:(?:\s.*)?|#\|.*)$")
_CODE_DIRECTIVES = frozenset(
    ("code", "code-cell", "code-block", "sourcecode", "ipython", "prompt", "testcode")
)
_NO_TEXT_NAMES = """
    toctree tableofcontents contents bibliography raw include literalinclude index image iframe embed =html =latex
"""
_NO_TEXT = frozenset(_NO_TEXT_NAMES.split())
_LANGUAGE_NAMES = """
    python python3 py r julia bash sh shell zsh console sql js javascript ts typescript java c cpp c++ csharp rust go
    ruby perl scala kotlin swift stan ojs mermaid dot html css json yaml toml xml text output powershell matlab octave
"""
_LANGUAGES = frozenset(_LANGUAGE_NAMES.split())
_OPTION_MARK = re.compile(r"^\s{0,20}(?:#\|\s?|:(?=[\w-]))")
_CAPTIONS = ("fig-cap", "fig-alt", "tbl-cap", "lst-cap", "caption", "alt")
_CAPTION = re.compile(r"\bfig\.(?:cap|alt)\s*=\s*\"([^\"]{1,1000})\"")
_COLONS = re.compile(r"\s*:{3,}\s*([^\s:].*)?$")
_TITLE = re.compile(r"\btitle\s*=\s*\"([^\"]{1,300})\"")
_ADMONITION = re.compile(r"(\s*)(?:!!!|\?\?\?\+?)\s+([\w-]+)\s*(.*)$")
_TAB = re.compile(r"(\s*)===[!+]?\s+\"(.*)\"\s*$")
_ALERT = re.compile(r"((?:\s*>)+\s*)\[![\w-]{1,30}\][+-]?\s*(.*)$")
_HIGHLIGHT = re.compile(
    r"\s{0,40}\{%-?\s{0,9}highlight\s{1,9}([^\s%]{1,60})[^%]{0,300}%\}\s*$"
)
_LIQUID = "{%"
_END_HIGHLIGHT = re.compile(r"\s*\{%-?\s*endhighlight\s*-?%\}\s*$")
_KRAMDOWN_LANGUAGE = re.compile(r"\s*\{:\s*\.(?:language-)?([\w+-]{1,30})[^{}]*\}\s*$")
_MATH_BLOCKS = (("$$", "$$"), ("\\[", "\\]"), ("\\begin{", "\\end{"))
_LONGEST_FORMULA = 200
_INCLUDE = re.compile(r"\s*\{\{\s*#\w+ [^{}]*\}\}\s*$")
# A line without any of them is ordinary Markdown.
_MARKUP = re.compile(r"`{3}|~{3}|\{%|\$\$|\\\[|\\begin|:{3}|!{3}|\?{3}|===|\[!")
_RAW = re.compile(r"\s*\{%-?\s*(?:end)?raw\s*-?%\}\s*$")


class _Fence(NamedTuple):
    """An open fence; `is_code` is False for one around text, and a dropped one is neither."""

    mark: str
    is_quoted: bool
    is_code: bool
    is_dropped: bool = False


def plain_markdown(text: str, losses: Losses) -> tuple[str, bool]:
    """Returns standard Markdown, and whether it was MDX, in which indented text is no program."""
    segments = _Scan(text.split("\n"), losses).segments()
    prose = "\n\n".join("\n".join(lines) for is_code, lines in segments if not is_code)
    components, notes = components_of(prose), notes_of(prose)
    parts = []
    for is_code, lines in segments:
        part = "\n".join(lines)
        parts.append(part if is_code else without_tags(part, components, notes))
    return "\n".join(parts), bool(components)


class _Scan:
    """The lines of a file, cut into programs and the text between them."""

    def __init__(self, lines: list[str], losses: Losses) -> None:
        self._losses = losses
        self._lines = lines
        self._at = 0
        self._segments: list[tuple[bool, list[str]]] = []
        self._open: list[_Fence] = []
        # The indentation of the open admonitions, innermost last.
        self._indented: list[int] = []
        self._opened_at = 0

    def segments(self) -> list[tuple[bool, list[str]]]:
        while self._at < len(self._lines):
            line = self._dedented(self._lines[self._at])
            self._at += 1
            if self._open and self._open[-1].is_code:
                self._within_code(line)
            elif _MARKUP.search(line) is None:
                self._put(line)
            elif not self._fence(line) and not self._formula(line):
                self._put(self._text(line))
        return self._segments

    def _put(self, line: str, is_code: bool = False) -> None:
        if self._open and self._open[-1].is_dropped:
            return
        if not self._segments or self._segments[-1][0] != is_code:
            self._segments.append((is_code, []))
        self._segments[-1][1].append(line)

    def _dedented(self, line: str) -> str:
        if not self._indented or not line.strip():
            return line
        line = line.expandtabs(4)
        indent = len(line) - len(line.lstrip())
        while self._indented and indent <= self._indented[-1]:
            self._indented.pop()
        depth = min(indent, 4 * len(self._indented))
        return line[depth:]

    def _within_code(self, line: str) -> None:
        fence = self._open[-1]
        if _closes(line, fence):
            self._put("```" if fence.mark == _LIQUID else line, is_code=True)
            self._open.pop()
            self._named_after()
        elif fence.is_quoted and ">" not in line[:9]:
            # The quotation ended, and its program with it.
            self._open.pop()
            self._put(line)
        elif _INCLUDE.match(line) is not None:
            self._losses.add(Loss.INCLUDED)
        elif _RAW.match(line) is None:
            self._put(line, is_code=True)

    def _named_after(self) -> None:
        """Takes the language of a program from the line of attributes after it."""
        following = self._lines[self._at] if self._at < len(self._lines) else ""
        found = _KRAMDOWN_LANGUAGE.match(following)
        if found is None:
            return
        self._at += 1
        _, code = self._segments[-1]
        if code[self._opened_at].endswith(("~", "`")):
            code[self._opened_at] += found[1]

    def _fence(self, line: str) -> bool:
        """Opens or closes a fence; returns False for a line that is none."""
        highlight = _HIGHLIGHT.match(line)
        if highlight is not None:
            self._begin(
                "```" + highlight[1], _Fence(_LIQUID, is_quoted=False, is_code=True)
            )
            return True
        found = _FENCE.match(line)
        if found is None or ("`" in found[2] and "`" in found[3]):
            return False
        before, mark, info = found.groups()
        if self._open and not info.strip() and mark.startswith(self._open[-1].mark):
            self._open.pop()
            self._put("")
            return True
        directive = _DIRECTIVE.match(info)
        if directive is None:
            self._begin(line, _Fence(mark, is_quoted=">" in before, is_code=True))
            return True
        self._directive(before, mark, directive)
        return True

    def _directive(self, before: str, mark: str, found: re.Match[str]) -> None:
        name, options, argument = found.groups()
        is_quoted = ">" in before
        said = [*_CAPTION.findall(options), *self._options()]
        language = _language(name, argument)
        if language is not None:
            for caption in said:
                self._put(f"{caption}\n")
            opening = f"{before}{mark}{language}"
            self._begin(opening, _Fence(mark, is_quoted, is_code=True))
            return
        is_dropped = name in _NO_TEXT
        if is_dropped and name.endswith("include"):
            self._losses.add(Loss.INCLUDED)
        # The file of a figure follows its directive's name.
        title = argument if _has_title(name) else ""
        for text in ("", title, "", *said, ""):
            self._put(text)
        self._open.append(_Fence(mark, is_quoted, is_code=False, is_dropped=is_dropped))

    def _begin(self, line: str, fence: _Fence) -> None:
        self._put(line, is_code=True)
        if self._segments:
            self._opened_at = len(self._segments[-1][1]) - 1
        self._open.append(fence)

    def _options(self) -> list[str]:
        """Takes the options that open a block, in one of three forms; returns those that the page shows as text."""
        start = self._at
        while self._at < len(self._lines) and _OPTION.match(self._lines[self._at]):
            self._at += 1
        options = [_OPTION_MARK.sub("", line) for line in self._lines[start : self._at]]
        if self._lines[self._at : self._at + 1] == ["---"]:
            rest = self._lines[self._at + 1 : self._at + 30]
            if "---" in rest:
                self._at += rest.index("---") + 2
        return texts_in("\n".join(options), _CAPTIONS)

    def _formula(self, line: str) -> bool:
        """Puts a formula of several lines between fences, so that its signs make no lists or headings."""
        stripped = line.strip()
        for start, end in _MATH_BLOCKS:
            if stripped.startswith(start) and end not in stripped[len(start) :]:
                break
        else:
            return False
        following = self._lines[self._at : self._at + _LONGEST_FORMULA]
        ends = [count for count, each in enumerate(following, start=1) if end in each]
        if not ends:
            return False
        indent = line[: len(line) - len(line.lstrip())]
        formula = [line, *following[: ends[0]]]
        for each in (f"{indent}```{MATH}", *formula, f"{indent}```"):
            self._put(each, is_code=True)
        self._at += ends[0]
        return True

    def _text(self, line: str) -> str:
        """Returns a line of text without the marks of a container."""
        colons = _COLONS.match(line)
        if colons is not None:
            self._put("")
            self._options()
            self._put(_container_title(colons[1] or ""))
            return ""
        found = _TAB.match(line)
        admonition = _ADMONITION.match(line)
        if found is not None:
            return self._indent(found[1], found[2])
        if admonition is not None:
            return self._indent(admonition[1], admonition[3].strip(' "'))
        alert = _ALERT.match(line)
        if alert is not None:
            return f"{alert[1]}{alert[2]}"
        return line

    def _indent(self, before: str, title: str) -> str:
        self._indented.append(len(before.expandtabs(4)) + 4 * len(self._indented))
        self._put("")
        self._put(title)
        return ""


def _closes(line: str, fence: _Fence) -> bool:
    if fence.mark == _LIQUID:
        return _END_HIGHLIGHT.match(line) is not None
    stripped = line.strip(" \t>") if fence.is_quoted else line.strip()
    return stripped.startswith(fence.mark) and not stripped.strip(fence.mark[0])


def _language(name: str, argument: str) -> str | None:
    """Returns the language of the program that a directive holds; None for one that holds text."""
    if name in _CODE_DIRECTIVES:
        return argument.split(" ")[0].strip("{}")
    if name == MATH:
        return MATH
    language = name.lstrip(".").lower()
    # A class or an id, as Pandoc writes them: only programs have them.
    if name[0] in ".#":
        return language if name[0] == "." and "=" not in language else ""
    return language if language in _LANGUAGES else None


def _container_title(words: str) -> str:
    """Returns the title after a container's colons: of `note Title`, `note[Title]` or `{.note title="Title"}`."""
    titled = _TITLE.search(words)
    if titled is not None:
        return titled[1]
    directive = _DIRECTIVE.match(words)
    if directive is not None:
        return directive[3] if _has_title(directive[1]) else ""
    kind, bracket, rest = words.partition("[")
    if bracket and rest.rstrip().endswith("]") and " " not in kind.strip():
        return rest.rstrip()[:-1]
    return words.partition(" ")[2].strip(" :{}")


def _has_title(kind: str) -> bool:
    """Returns True if the words after a directive's name appear on the page, and are no label, class or file."""
    if not kind[0].isalpha() or kind in _NO_TEXT:
        return False
    return not kind.endswith(("-start", "-end", "figure"))
