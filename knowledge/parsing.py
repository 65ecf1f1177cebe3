"""A course script's text read as header lines, lessons and their paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from antiphon.knowledge.values import Section
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.values import Value

_HEADER = re.compile(r"course (title|link|instructor)\s*:", re.IGNORECASE)
_LESSON = re.compile(r"lesson\s+([0-9]{1,4})\s*[:.\u2013\u2014-]", re.IGNORECASE)
_LESSON_LINK = re.compile(r"lesson link\s*:", re.IGNORECASE)
# Markdown around a header line or a heading: "## **Lesson 1: Logs**" is a heading too.
_MARKUP = "#* \t"
# The header stands within this many lines from the top; further down "Course link:" is text.
_HEADER_LINES = 12
# A heading of more characters is text, not a heading.
LONGEST_TITLE = 300

_OWN_LINE = re.compile(r"#{1,6}\s|\||[-=*_]{3,}\s*$")
_ITEM = re.compile(r"(?:[-*+•>]|[0-9]{1,3}[.)])\s")
_FENCE = ("```", "~~~")


class Script(Value, frozen=True, kw_only=True):
    """A parsed course script; `title` is None where its header names none."""

    title: str | None
    link: str | None
    instructor: str | None
    sections: tuple[Section, ...]


class _Heading(Value, frozen=True, kw_only=True):
    """A lesson's heading."""

    number: int
    title: str


def parse_script(text: str) -> Script:
    """Parses a whole script; a text without headers or lessons is one section without a number."""
    header, lines = _split_header(text.split("\n"))
    return Script(
        title=header.get("title") or None,
        link=_link(header.get("link", "")),
        instructor=header.get("instructor") or None,
        sections=_sections(lines),
    )


def _split_header(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    """Returns the header's fields and the lines that are not the header's."""
    header: dict[str, str] = {}
    rest = []
    for place, line in enumerate(lines):
        plain = line.strip(_MARKUP)
        found = None
        if place < _HEADER_LINES and len(plain) <= LONGEST_TITLE:
            found = _HEADER.match(plain)
        if found is None:
            rest.append(line)
            continue
        name = found.group(1).lower()
        # The first of two wins, even where it is empty; the second is text.
        if name in header:
            rest.append(line)
        else:
            header[name] = _title(plain[found.end() :])
    return header, rest


def _sections(lines: list[str]) -> tuple[Section, ...]:
    """Splits the lines at lesson headings; text before the first is a section without a number."""
    sections: list[Section] = []
    heading: _Heading | None = None
    body: list[str] = []
    for line in lines:
        next_heading = _heading(line)
        if next_heading is None:
            body.append(line)
            continue
        sections.append(_section(heading, body))
        heading, body = next_heading, []
    sections.append(_section(heading, body))
    # A lesson may be empty: it still stands in the table of contents. Text outside lessons is left out where it is.
    if sections[0].number is None and not sections[0].text:
        del sections[0]
    return tuple(sections)


def _heading(line: str) -> _Heading | None:
    plain = line.strip(_MARKUP)
    if len(plain) > LONGEST_TITLE:
        return None
    found = _LESSON.match(plain)
    if found is None:
        return None
    number = int(found.group(1))
    return _Heading(
        number=number, title=_title(plain[found.end() :]) or f"Lesson {number}"
    )


def _section(heading: _Heading | None, lines: Sequence[str]) -> Section:
    if heading is None:
        return Section(number=None, title="", text=join_lines(lines))
    link, lines = _split_link(lines)
    return Section(
        number=heading.number, title=heading.title, link=link, text=join_lines(lines)
    )


def _split_link(lines: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    """Takes the lesson's link off, if the first line with text is one."""
    for place, line in enumerate(lines):
        plain = line.strip(_MARKUP)
        found = _LESSON_LINK.match(plain)
        if found:
            return _link(plain[found.end() :]), lines[place + 1 :]
        if line.strip():
            break
    return None, lines


def _title(text: str) -> str:
    return " ".join(text.replace("**", "").strip(_MARKUP).split())


def _link(text: str) -> str | None:
    return web_link(text.strip(_MARKUP).strip("<>"))


def join_lines(lines: Iterable[str]) -> str:
    """Joins hard-wrapped lines, so that a sentence is whole: one blank line between two paragraphs.

    What has a shape keeps it: list items, headings, tables and code stay on lines of their own.
    """
    joined: list[str] = []
    in_code = False
    # True while the next plain line continues the last one.
    is_open = False
    for line in lines:
        words = " ".join(line.split())
        if words.startswith(_FENCE):
            in_code = not in_code
            joined.append(words)
            is_open = False
        elif in_code:
            joined.append(line.rstrip())
            is_open = False
        elif not words or _OWN_LINE.match(words):
            joined.append(words)
            is_open = False
        elif is_open and not _ITEM.match(words):
            joined[-1] = f"{joined[-1]} {words}"
        else:
            joined.append(words)
            is_open = True
    return re.sub(r"\n{3,}", "\n\n", "\n".join(joined)).strip()
