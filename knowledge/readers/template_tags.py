"""Tags of templates within Markdown's text: Liquid, Hugo, kramdown, MyST roles, MDX, emoji codes; not in code spans."""

from __future__ import annotations

import re
from functools import lru_cache

from rich.emoji import Emoji, NoEmoji

# What comes first wins: a tag within a code span or a formula is part of it.
_TAGS = re.compile(
    r"""
    (?P<kept>(?P<ticks>`{1,3})(?!`)[^`]{1,1000}(?P=ticks)(?!`) | \$\$.{1,5000}?\$\$ | \$[^\s$`][^$\n`]{0,300}\$)
    | \{%-?\s{0,9}raw\s{0,9}-?%\}(?P<raw>.{0,2000}?)\{%-?\s{0,9}endraw\s{0,9}-?%\}
    | \{%-?\s{0,9}comment\b.{0,2000}?endcomment\s{0,9}-?%\}
    | \{%.{1,1000}?%\}
    | \{\{[<%].{1,1000}?[>%]\}\}
    | \{\{[^{}\\]{1,500}\}\}
    | \{/\*.{0,5000}?\*/\}
    | \{:(?=[\s.\#:a-zA-Z/])[^{}\n?]{0,300}\}
    | \{(?P<role>[a-zA-Z][\w:+-]{0,40})\}`(?P<said>[^`]{1,500})`
    | (?<=[\])`])\{\s{0,9}(?:[.\#][\w-]|[\w-]{1,30}=)[^{}\n]{0,300}\}
    | (?<![\w:]):(?P<emoji>[a-z0-9_+-]{2,40}):(?![\w:])
    | !\[\[[^\[\]\n]{1,200}\]\]
    | (?P<mark>\[\^[^\[\]\s]{1,60}\])(?!:)
    | (?P<open>\[)?-?(?<![\w@\\])@(?P<kind>fig|tbl|sec|eq|lst)-(?P<label>\w(?:[\w-]{0,80}\w)?)(?(open)\])
    | \[\[(?P<page>[^\[\]\n|\s][^\[\]\n|]{0,200})(?:\|(?P<shown>[^\[\]\n]{1,200}))?\]\](?!\()
    """,
    re.VERBOSE | re.DOTALL,
)
_OWN_LINES = re.compile(
    # A table of contents that the generator fills in.
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
# A footnote with its paragraph, which ends where the next one begins.
_FOOTNOTE = re.compile(
    r"^(\[\^[^\[\]\s]{1,60}\]):[ \t]{0,9}([^\n]{1,5000}(?:\n(?!\[\^)[^\n]{0,5000}\S){0,50})",
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
# A component of MDX: its attributes may hold braces, and these others.
_ATTRIBUTES = r"(?:[^<>{}]|\{(?:[^{}]|\{[^{}]{0,2000}\}){0,5000}\}){0,1000}"
_COMPONENT = re.compile(rf"</?([A-Z][\w.]{{0,60}})(?:\s({_ATTRIBUTES}))?>|</?>")
_CLOSED_COMPONENT = re.compile(
    rf"</([A-Z][\w.]{{0,60}})\s{{0,9}}>|<([A-Z][\w.]{{0,60}})(?:\s{_ATTRIBUTES})?/>"
)
# The attributes that its readers see.
_SHOWN_ATTRIBUTE = re.compile(
    r"\b(?:title|label|summary|text|explain|question|answer|caption|description)\s{0,9}[:=]\s{0,9}\{?\s{0,9}"
    r"(?:\"([^\"]{1,2000})\"|'([^'\n]{1,2000})'|`([^`]{1,2000})`)"
)


def components_of(text: str) -> frozenset[str]:
    """Returns the components of MDX in a text: `<T>` that nothing closes is a word."""
    found = _CLOSED_COMPONENT.findall(text)
    return frozenset(closed or alone for closed, alone in found)


def notes_of(text: str) -> frozenset[str]:
    """Returns the marks of the footnotes that a text explains, such as "[^1]"."""
    return frozenset(mark for mark, _ in _FOOTNOTE.findall(text))


def without_tags(text: str, components: frozenset[str], notes: frozenset[str]) -> str:
    """Returns text as its readers see it, as far as templates go."""
    if components:
        text = _COMPONENT.sub(lambda found: _component(found, components), text)
    text = _OWN_LINES.sub("", text)
    text = _TAGS.sub(lambda found: _shown(found, notes), text)
    text = _HEADING_ATTRIBUTES.sub(r"\1", text)
    text = _TABLE_CAPTION.sub(r"\1", text)
    # In the form in which the other readers say a note; escaped, for the parser would take it for a link.
    return _FOOTNOTE.sub(r"\\[note: \2\\]", text)


def _component(found: re.Match[str], components: frozenset[str]) -> str:
    name, attributes = found[1], found[2] or ""
    if name is not None and name not in components:
        return found[0]
    said = ["".join(forms) for forms in _SHOWN_ATTRIBUTE.findall(attributes)]
    return "\n\n".join(["", *said, ""]) if said else ""


def _shown(found: re.Match[str], notes: frozenset[str]) -> str:
    if found["mark"]:
        # Of what no note explains it is no mark, but a pattern such as [^abc].
        return "" if found["mark"] in notes else found[0]
    if found["label"]:
        # Its number is given by the book; its label says in words what it is.
        return f"{_KINDS[found['kind']]} {found['label'].replace('-', ' ')}"
    if found["role"]:
        return _role(found["role"], found["said"])
    if found["emoji"]:
        return "" if _is_emoji(found["emoji"]) else found[0]
    return next(filter(None, found.group(*_AS_THEY_STAND)), "")


def _role(role: str, said: str) -> str:
    """Returns what a role of MyST shows: the text before its target."""
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
