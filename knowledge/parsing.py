"""A course script's text read as header lines, lessons and their text."""

from __future__ import annotations

import re

from antiphon.knowledge.document import Section
from antiphon.knowledge.paragraphs import join_lines
from antiphon.vocabulary.values import Value

_HEADER = re.compile(r"course (title|link|instructor)\s*:", re.IGNORECASE)
_LESSON = re.compile(r"lesson\s+([0-9]{1,4})\s*[:.\u2013\u2014-]", re.IGNORECASE)
_LESSON_LINK = re.compile(r"lesson link\s*:", re.IGNORECASE)
_LINK = re.compile(r"https?://[^\s<>\"'`]{1,2000}", re.IGNORECASE)
_MARKUP = "#* \t"
_HEADER_LINES = 12
"""The header stands within this many lines from the top."""
LONGEST_TITLE = 300
"""A heading of more characters is text, not a heading."""


class Script(Value, frozen=True, kw_only=True):
    """What a course script says; `title` is None where its header names none."""

    title: str | None
    link: str | None
    instructor: str | None
    sections: tuple[Section, ...]


def parse_script(text: str) -> Script:
    """Reads a whole script; a text without headers or lessons is one section without a number."""
    header, lines = _split_header(text.split("\n"))
    sections = [_section(heading, body) for heading, body in _split_lessons(lines)]
    return Script(
        title=header.get("title"),
        link=_link(header.get("link", "")),
        instructor=header.get("instructor"),
        sections=tuple(section for section in sections if section.number is not None or section.text),
    )


def _split_header(lines: list[str]) -> tuple[dict[str, str], list[str]]:
    header: dict[str, str] = {}
    rest: list[str] = []
    for place, line in enumerate(lines):
        plain = line.strip(_MARKUP)
        found = _HEADER.match(plain) if place < _HEADER_LINES and len(plain) <= LONGEST_TITLE else None
        if found and found.group(1).lower() not in header:
            header[found.group(1).lower()] = _title(plain[found.end() :])
        else:
            rest.append(line)
    return {name: value for name, value in header.items() if value}, rest


def _split_lessons(lines: list[str]) -> list[tuple[tuple[int, str] | None, list[str]]]:
    parts: list[tuple[tuple[int, str] | None, list[str]]] = [(None, [])]
    for line in lines:
        heading = _heading(line)
        if heading:
            parts.append((heading, []))
        else:
            parts[-1][1].append(line)
    return parts


def _heading(line: str) -> tuple[int, str] | None:
    plain = line.strip(_MARKUP)
    found = _LESSON.match(plain) if len(plain) <= LONGEST_TITLE else None
    if found is None:
        return None
    number = int(found.group(1))
    return number, _title(plain[found.end() :]) or f"Lesson {number}"


def _title(text: str) -> str:
    return " ".join(text.replace("**", "").strip(_MARKUP).split())


def _section(heading: tuple[int, str] | None, lines: list[str]) -> Section:
    if heading is None:
        return Section(number=None, title="", text=join_lines(lines))
    first = next((place for place, line in enumerate(lines) if line.strip()), None)
    link = None
    if first is not None:
        plain = lines[first].strip(_MARKUP)
        found = _LESSON_LINK.match(plain)
        if found:
            link = _link(plain[found.end() :])
            lines = lines[first + 1 :]
    return Section(number=heading[0], title=heading[1], link=link, text=join_lines(lines))


def _link(text: str) -> str | None:
    """The web address in `text`; anything else (a script, a local file) is no link."""
    found = _LINK.fullmatch(text.strip(_MARKUP).strip("<>"))
    return found.group() if found else None
