"""Removes template tags outside code from Markdown: Liquid, Hugo, kramdown, MyST roles, MDX, emoji codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.emoji import Emoji, NoEmoji

# The first match wins: a tag within a code span or a formula is part of that.
_TAGS = re.compile(
    # With their first signs up front, because most characters begin no tag.
    r"""
    (?=[`$\{:\[!@-])(?:
    (?P<kept>(?P<ticks>`{1,3})(?!`)[^`]{1,1000}(?P=ticks)(?!`) | \$\$[^$]{1,5000}\$\$ | \$[^\s$`][^$\n`]{0,300}\$)
    | \{%-?\s{0,9}raw\s{0,9}-?%\}(?P<raw>.*?)(?:\{%-?\s{0,9}endraw\s{0,9}-?%\}|\Z)
    | \{%-?\s{0,9}comment\b.*?(?:endcomment\s{0,9}-?%\}|\Z)
    | \{%[^%]{1,1000}%\}
    | \{\{[<%][^{}]{1,1000}[>%]\}\}
    | \{\{[^{}\\]{1,500}\}\}
    | \{/\*.*?(?:\*/\}|\Z)
    | \{:(?=[\s.\#:a-zA-Z/])[^{}\n?]{0,300}\}
    | \{(?P<role>[a-zA-Z][\w:+-]{0,40})\}`(?P<said>[^`]{1,500})`
    | (?<=[\])`])\{\s{0,9}(?:[.\#][\w-]|[\w-]{1,30}=)[^{}\n]{0,300}\}
    | (?<![\w:]):(?P<emoji>[a-z0-9_+-]{2,40}):(?![\w:])
    | !\[\[[^\[\]\n]{1,200}\]\]
    | (?P<mark>\[\^[^\[\]\s]{1,60}\])(?!:)
    | (?P<reference>\[-?@(?:fig|tbl|sec|eq|lst)-\w[\w-]{0,80}\]
        | -?(?<![\w@\\])@(?:fig|tbl|sec|eq|lst)-\w(?:[\w-]{0,80}\w)?)
    | \[\[(?P<page>[^\[\]\n|\s][^\[\]\n|]{0,200})(?:\|(?P<shown>[^\[\]\n]{1,200}))?\]\](?!\()
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_OWN_LINES = re.compile(
    # A placeholder for a table of contents by the generator.
    r"^[ \t]{0,9}(?i:[-*] TOC|\[\[_?toc_?\]\]|\[toc\]|\$\{toc\}|@\[toc\].{0,99})[ \t]{0,9}$"
    # Modules that a page of MDX uses.
    r"|^import\s(?:[^\n]{1,300}\sfrom\s{1,9})?(['\"])[^'\"\n]{1,300}\1;?[ \t]{0,9}$"
    r"|^export\s{1,9}(?:const|default|function|let)\b[^\n]{0,1000}(?:\n[^\n]{1,1000}){0,50}",
    re.MULTILINE,
)
_HEADING_ATTRIBUTES = re.compile(
    r"^(#{1,6}[ \t][^\n{]{0,1000}?)[ \t]{0,9}\{(?:[.#-]|[\w-]{1,30}=)?[^{}\n]{0,200}\}[ \t#]{0,9}$",
    re.MULTILINE,
)
_TABLE_CAPTION = re.compile(
    r"^:[ \t]{1,9}([^\n{]{1,500}?)[ \t]{0,9}\{#[^{}\n]{0,200}\}[ \t]{0,9}$",
    re.MULTILINE,
)
# A footnote with its paragraph, which ends at the next one.
_FOOTNOTE = re.compile(
    r"^(\[\^[^\[\]\s]{1,60}\]):[ \t]{0,9}([^\n]{1,999}(?:\n(?!\[\^)[^\n]{0,299}\S){0,9})",
    re.MULTILINE,
)
_AS_THEY_STAND = ("kept", "raw", "shown", "page")
_KINDS = {
    "fig": "figure",
    "tbl": "table",
    "sec": "section",
    "eq": "equation",
    "lst": "listing",
}
_CITES = ("cite", "index", "eq", "numref")
# The beginning of an MDX component; its attributes may hold braces, and these other tags.
_COMPONENT = re.compile(r"</?(?:([A-Z][\w.]{0,60})(?=[\s/>])|>)")
_SIGN_OF_TAG = re.compile(r"[<>{}]")
_LONGEST_TAG = 20_000
_MOST_UNENDED = 50
"""Most tags without an end: a text with more is not MDX, and searching for each end takes long."""
# The attributes that the page shows.
_SHOWN_ATTRIBUTE = re.compile(
    r"\b(?:title|label|summary|text|explain|question|answer|caption|description)\s{0,9}[:=]\s{0,9}\{?\s{0,9}"
    r"(?:\"([^\"]{1,2000})\"|'([^'\n]{1,2000})'|`([^`]{1,2000})`)"
)


class _Tag(NamedTuple):
    """A tag of a component, between two places in a text; a fragment (`<>`) has no name."""

    first: int
    end: int
    name: str | None
    attributes: str
    is_closed: bool


def _tags(text: str) -> Iterator[_Tag]:
    """Yields the tags of components, but none within the attributes of another."""
    end = unended = 0
    for opening in _COMPONENT.finditer(text):
        if opening.start() < end:
            continue
        found = (
            opening.end() if opening[1] is None else _end_of_tag(text, opening.end())
        )
        if found is None:
            unended += 1
            if unended == _MOST_UNENDED:
                return
            continue
        end = found
        inside = text[opening.end() : max(end - 1, opening.end())]
        is_closed = opening[0].startswith("</") or inside.endswith("/")
        yield _Tag(opening.start(), end, opening[1], inside, is_closed)


def _end_of_tag(text: str, at: int) -> int | None:
    """Returns the place after the first `>` outside braces; None if another tag or too much text comes first."""
    depth = 0
    for sign in _SIGN_OF_TAG.finditer(text, at, at + _LONGEST_TAG):
        if sign[0] == "{":
            depth += 1
        elif sign[0] == "}":
            depth -= 1
        elif depth <= 0:
            return sign.end() if sign[0] == ">" else None
    return None


def components_of(text: str) -> frozenset[str]:
    """Returns the MDX components in a text: an unclosed `<T>` is a word."""
    return frozenset(tag.name for tag in _tags(text) if tag.name and tag.is_closed)


def notes_of(text: str) -> frozenset[str]:
    """Returns the marks of the footnotes that a text explains, such as "[^1]"."""
    return frozenset(mark for mark, _ in _FOOTNOTE.findall(text))


def without_tags(text: str, components: frozenset[str], notes: frozenset[str]) -> str:
    """Returns text in the form that templates produce."""
    if components:
        text = _without_components(text, components)
    text = _OWN_LINES.sub("", text)
    text = _TAGS.sub(lambda found: _shown(found, notes), text)
    text = _HEADING_ATTRIBUTES.sub(r"\1", text)
    text = _TABLE_CAPTION.sub(r"\1", text)
    # A note in the form of the other readers; escaped, because the parser would take it for a link.
    return _FOOTNOTE.sub(r"\\[note: \2\\]", text)


def _without_components(text: str, components: frozenset[str]) -> str:
    """Returns text without the tags of components, except the attributes that the page shows."""
    parts: list[str] = []
    end = 0
    for tag in _tags(text):
        if tag.name is not None and tag.name not in components:
            continue
        parts.append(text[end : tag.first])
        end = tag.end
        said = ["".join(forms) for forms in _SHOWN_ATTRIBUTE.findall(tag.attributes)]
        if said:
            parts.append("\n\n".join(["", *said, ""]))
    return "".join([*parts, text[end:]])


def _shown(found: re.Match[str], notes: frozenset[str]) -> str:
    if found["mark"]:
        # Without a note to explain it, it is no mark, but a pattern such as [^abc].
        return "" if found["mark"] in notes else found[0]
    if found["reference"]:
        kind, _, label = found["reference"].strip("[]-@").partition("-")
        # The book gives it a number; its label describes it in words.
        return f"{_KINDS[kind]} {label.replace('-', ' ')}"
    if found["role"]:
        return _role(found["role"], found["said"])
    if found["emoji"]:
        return "" if _is_emoji(found["emoji"]) else found[0]
    return next(filter(None, found.group(*_AS_THEY_STAND)), "")


def _role(role: str, said: str) -> str:
    """Returns the visible text of a MyST role, which is the text before its target."""
    if role.startswith(_CITES):
        return ""
    if role == "math":
        return f"${said}$"
    text, _, target = said.partition("<")
    return text.strip() or target.strip("> ")


@lru_cache(maxsize=1_000)
def _is_emoji(name: str) -> bool:
    try:
        Emoji(name)
    except NoEmoji:
        return False
    return True
