"""Parses the lines of a file as a course: header, title, lessons and their paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.knowledge.headings import (
    MARKUP,
    Heading,
    Headings,
    find_headings,
    plain_title,
    title_line,
    without_number,
)
from antiphon.knowledge.joining import JoinedText
from antiphon.knowledge.naming import as_title, first_title
from antiphon.knowledge.readers.content import LONGEST_TITLE, Content, Line
from antiphon.knowledge.tables import TableText
from antiphon.knowledge.values import Mark, Parts, Section
from antiphon.language.words import fold
from antiphon.vocabulary.outside import web_link

_HEADER = re.compile(r"course (title|link|instructor)\s*:", re.IGNORECASE)
_LESSON_LINK = re.compile(r"lesson link\s*:", re.IGNORECASE)
# The header is within this many lines from the top; below them "Course link:" is text.
_HEADER_LINES = 12


def parse_script(text: str) -> Parts:
    """Parses a plain text; one without headers or lessons is one section without a number."""
    return parse_content(Content(lines=[Line(line) for line in text.split("\n")]))


def parse_content(content: Content) -> Parts:
    """Divides a file into header, title, lessons and text."""
    header, lines = _split_header(content.lines)
    plan = find_headings(lines)
    heading = "" if plan.title_at is None else plain_title(lines[plan.title_at].text)
    title = header.get("title") or first_title(
        content.title, heading, content.other_title
    )
    plan = _without_other_title(plan, title, heading)
    link = _link(header.get("link", "")) or web_link(content.link)
    sections = _sections(lines, plan, link)
    has_headings = any(line.level for line in lines)
    if has_headings and not any(section.text for section in sections):
        # In a file with nothing but headings, such as a list of subjects, the headings are the text.
        sections = _sections(_as_text(lines), Headings(lessons={}), link)
    return Parts(
        title=title or None,
        link=link,
        instructor=header.get("instructor") or content.instructor,
        sections=sections,
        losses=content.losses,
    )


def _without_other_title(plan: Headings, title: str, heading: str) -> Headings:
    """Keeps a heading in the text if the file has another title, so that it is not lost."""
    is_other = title and heading and fold(title) != fold(as_title(heading))
    return replace(plan, title_at=None) if is_other else plan


def parse_lesson(content: Content, number: int, name: str, title: str = "") -> Section:
    """Reads a file as one lesson of a course of several files; all its headings are places.

    Args:
        name: The lesson's title if the file gives none.
        title: A title that overrides the file's own.
    """
    _, lines = _split_header(content.lines)
    title = title or as_title(content.title or "")
    title_at = title_line(lines, title)
    if not title and title_at is not None:
        title = as_title(without_number(lines[title_at].text))
    link = web_link(content.link)
    heading = Heading(number=number, title=plain_title(title) or name)
    section = _Section(heading, link, link)
    _fill([section], lines, Headings(lessons={}, title_at=title_at), link)
    return section.finished()


def _as_text(lines: Sequence[Line]) -> list[Line]:
    """Returns each heading as a paragraph."""
    found: list[Line] = []
    for line in lines:
        found += [line._replace(level=0), Line("")]
    return found


def _split_header(lines: Sequence[Line]) -> tuple[dict[str, str], list[Line]]:
    """Returns the header's fields and the other lines."""
    header: dict[str, str] = {}
    rest = []
    for place, line in enumerate(lines):
        may_be_field = place < _HEADER_LINES and len(line.text) <= LONGEST_TITLE
        found = _HEADER.match(line.text.strip(MARKUP)) if may_be_field else None
        # The first of two equal fields wins, even if it is empty; the second is text.
        if found is None or found[1].lower() in header:
            rest.append(line)
        else:
            header[found[1].lower()] = plain_title(found.string[found.end() :])
    return header, rest


class _Section:
    """A section under construction.

    Args:
        course_link: The address of its course, for places in a section without its own address.
        link: Its own address, if that is known before its first line.
        anchor: The fragment of its heading in the course's address; empty if there is none.
    """

    def __init__(
        self,
        heading: Heading | None,
        course_link: str | None,
        link: str | None = None,
        anchor: str = "",
    ) -> None:
        self._heading = heading
        self._anchor = anchor or None
        self._course_link = course_link
        self._link = link
        self._may_name_link = heading is not None
        self._joined = JoinedText()
        self._text = TableText(self._joined)

    def add(self, line: Line) -> None:
        if self._may_name_link and line.text.strip():
            self._may_name_link = False
            plain = line.text.strip(MARKUP)
            found = _LESSON_LINK.match(plain)
            if found:
                self._link = _link(plain[found.end() :])
                return
        self._text.add(line.text, is_code=line.is_code)

    def mark(self, place: Line, heading: str) -> None:
        """Marks the place of the text that follows: `place`, under `heading`."""
        words = place.place or heading
        if words:
            # The bare fragment for now, because the line with the section's link may still follow.
            fragment = place.fragment or None
            self._text.mark(Mark(start=0, place=words, link=fragment, heading=heading))

    def end_paragraph(self) -> None:
        self._joined.end_paragraph()

    @property
    def is_blank(self) -> bool:
        """Returns True for an empty section outside lessons."""
        return self._heading is None and self._joined.is_empty

    def finished(self) -> Section:
        number = None
        title = ""
        if self._heading is not None:
            number, title = self._heading.number, self._heading.title
        marks = [
            replace(mark, link=self._link_to(mark.link)) for mark in self._joined.marks
        ]
        return Section(
            number=number,
            title=title,
            link=self._link or self._link_to(self._anchor),
            text=self._joined.text,
            marks=tuple(marks),
        )

    def _link_to(self, fragment: str | None) -> str | None:
        base = self._link or self._course_link
        if base is None or fragment is None or "#" in base:
            return None
        return web_link(f"{base}#{fragment}")


def _sections(
    lines: Sequence[Line], plan: Headings, link: str | None
) -> tuple[Section, ...]:
    """Splits the lines at lesson headings; text before the first is a section without a number."""
    sections = [_Section(None, link)]
    _fill(sections, lines, plan, link)
    # An empty lesson stays, because it is in the table of contents; an empty section outside lessons is dropped.
    if sections[0].is_blank:
        del sections[0]
    return tuple([section.finished() for section in sections])


def _fill(
    sections: list[_Section], lines: Sequence[Line], plan: Headings, link: str | None
) -> None:
    """Adds each line to the last section, and opens a new section at each lesson."""
    # A page continues past a lesson's heading; a lower heading ends there.
    place = Line("")
    heading = ""
    for at, line in enumerate(lines):
        if line.place:
            place = line
            heading = line.heading or heading
            sections[-1].mark(place, heading)
        if at in plan.lessons:
            lesson = plan.lessons[at]
            sections.append(_Section(lesson, link, anchor=line.fragment))
            heading = ""
            sections[-1].mark(place, heading)
        elif at == plan.title_at:
            sections[-1].end_paragraph()
        elif line.level and line.text.strip():
            heading = plain_title(line.text)
            sections[-1].end_paragraph()
            sections[-1].mark(_of_heading(line, place), heading)
        elif line.text or not line.place:
            sections[-1].add(line)


def _of_heading(line: Line, place: Line) -> Line:
    """Returns the target for a link to a heading: its own anchor, or its page."""
    return line if line.fragment or not place.place else place


def _link(text: str) -> str | None:
    return web_link(text.strip(MARKUP).strip("<>"))
