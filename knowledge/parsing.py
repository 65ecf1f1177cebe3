"""The lines of a file read as a course: header, title, lessons and their paragraphs.

The lessons are, by the first rule that fits:
1. lines such as "Lesson 3: Logs", in any format;
2. the headings of the file's first level, or of its second where one heading of the first opens it as its title;
3. none: the whole file is one section without a number.
All other headings stand as places over their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from antiphon.knowledge.joining import JoinedText
from antiphon.knowledge.readers.content import LONGEST_TITLE, Content, Line
from antiphon.knowledge.tables import TableText
from antiphon.knowledge.values import Mark, Parts, Section
from antiphon.vocabulary.outside import web_link
from antiphon.vocabulary.values import Value

_HEADER = re.compile(r"course (title|link|instructor)\s*:", re.IGNORECASE)
_LESSON = re.compile(r"lesson\s+([0-9]{1,4})\s*[:.\u2013\u2014-]", re.IGNORECASE)
_LESSON_LINK = re.compile(r"lesson link\s*:", re.IGNORECASE)
# A heading with its own number: "3. Logs", "Chapter 3: Logs", "Week 3 - Logs".
_NUMBERED = re.compile(
    r"(?:(?:chapter|module|part|section|unit|week)\s+)?([0-9]{1,4})\s*[:.)\u2013\u2014-]\s+(?=\S)",
    re.IGNORECASE,
)
# Markdown around a header line or a heading: "## **Lesson 1: Logs**" is a heading too.
_MARKUP = "#* \t"
# The header stands within this many lines from the top; further down "Course link:" is text.
_HEADER_LINES = 12


class _Heading(Value, frozen=True, kw_only=True):
    """A lesson's heading."""

    number: int
    title: str


class _Plan(Value, frozen=True, kw_only=True):
    """Which lines open a lesson, and the line that is the file's title."""

    lessons: dict[int, _Heading]
    title_at: int | None = None


def parse_script(text: str) -> Parts:
    """Parses a plain text; one without headers or lessons is one section without a number."""
    return parse_content(Content(lines=[Line(line) for line in text.split("\n")]))


def parse_content(content: Content) -> Parts:
    """Decides what in a file is header, title, lesson and text."""
    header, lines = _split_header(content.lines)
    plan = _plan(lines)
    heading = "" if plan.title_at is None else _title(lines[plan.title_at].text)
    title = header.get("title") or content.title or heading or content.other_title
    link = _link(header.get("link", "")) or web_link(content.link)
    return Parts(
        title=title or None,
        link=link,
        instructor=header.get("instructor") or content.instructor,
        sections=_sections(lines, plan, link),
        losses=content.losses,
    )


def parse_lesson(content: Content, number: int, name: str) -> Section:
    """Reads a file as one lesson of a course that is a folder; all its headings are places.

    Args:
        name: The lesson's title where the file gives itself none.
    """
    _, lines = _split_header(content.lines)
    title_at = next(iter(_headings(lines)), None)
    if content.title is None and title_at is not None:
        title = _without_number(lines[title_at].text)
    else:
        title = content.title or name
    link = web_link(content.link)
    heading = _Heading(number=number, title=_title(title))
    section = _Section(heading, link, link)
    _fill([section], lines, _Plan(lessons={}, title_at=title_at), link)
    return section.finished()


def is_course_script(lines: Iterable[Line]) -> bool:
    """Returns True if the lines begin with a course's header, by which a file is a course of its own."""
    header, _ = _split_header(list(lines))
    return "title" in header


def _split_header(lines: Sequence[Line]) -> tuple[dict[str, str], list[Line]]:
    """Returns the header's fields and the lines that are not the header's."""
    header: dict[str, str] = {}
    rest = []
    for place, line in enumerate(lines):
        may_be_field = place < _HEADER_LINES and len(line.text) <= LONGEST_TITLE
        found = _HEADER.match(line.text.strip(_MARKUP)) if may_be_field else None
        # The first of two wins, even where it is empty; the second is text.
        if found is None or found[1].lower() in header:
            rest.append(line)
        else:
            header[found[1].lower()] = _title(found.string[found.end() :])
    return header, rest


def _plan(lines: Sequence[Line]) -> _Plan:
    """Finds the lessons by the rules that this module begins with."""
    named: dict[int, _Heading] = {}
    for at, line in enumerate(lines):
        heading = _heading(line)
        if heading is not None:
            named[at] = heading
    headings = _headings(lines)
    opens = headings and headings[0] not in named and _is_alone(headings, lines)
    title_at = headings.pop(0) if opens else None
    return _Plan(lessons=named or _by_level(headings, lines), title_at=title_at)


def _headings(lines: Sequence[Line]) -> list[int]:
    """Returns where the lines are that their format marks as headings."""
    return [at for at, line in enumerate(lines) if line.level and line.text.strip()]


def _is_alone(headings: Sequence[int], lines: Sequence[Line]) -> bool:
    """Returns True if the first heading is the only one of the highest level."""
    first = lines[headings[0]].level
    return all(lines[at].level > first for at in headings[1:])


def _by_level(headings: Sequence[int], lines: Sequence[Line]) -> dict[int, _Heading]:
    """Makes each heading of the highest level a lesson, by its own number where all have one."""
    if not headings:
        return {}
    top = min(lines[at].level for at in headings)
    places = [at for at in headings if lines[at].level == top]
    numbers: list[int] = []
    for at in places:
        found = _NUMBERED.match(_title(lines[at].text))
        if found is not None:
            numbers.append(int(found.group(1)))
    if len(set(numbers)) != len(places):
        numbers = list(range(1, len(places) + 1))
    lessons = {}
    for at, number in zip(places, numbers, strict=True):
        lessons[at] = _Heading(number=number, title=_without_number(lines[at].text))
    return lessons


def _heading(line: Line) -> _Heading | None:
    # Cut off first: the line may have megabytes.
    if line.is_code or len(line.text) > 2 * LONGEST_TITLE:
        return None
    plain = line.text.strip(_MARKUP)
    if len(plain) > LONGEST_TITLE:
        return None
    found = _LESSON.match(plain)
    if found is None:
        return None
    number = int(found.group(1))
    return _Heading(
        number=number, title=_title(plain[found.end() :]) or f"Lesson {number}"
    )


class _Section:
    """One section as it grows.

    Args:
        course_link: The address of its course, for places where the section has none of its own.
        link: Its own, where that is known before its first line.
        anchor: What leads to its heading within the course's address; empty where nothing does.
    """

    def __init__(
        self,
        heading: _Heading | None,
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
            plain = line.text.strip(_MARKUP)
            found = _LESSON_LINK.match(plain)
            if found:
                self._link = _link(plain[found.end() :])
                return
        self._text.add(line.text, is_code=line.is_code)

    def mark(self, place: Line, heading: str) -> None:
        """Notes where the text from here on stands: at `place`, under `heading`."""
        words = place.place or heading
        if words:
            # The fragment for now: the line that names the section's link may be still to come.
            fragment = place.fragment or None
            self._text.mark(Mark(start=0, place=words, link=fragment, heading=heading))

    def end_paragraph(self) -> None:
        self._joined.end_paragraph()

    @property
    def is_blank(self) -> bool:
        """Returns True for text outside lessons that is not there."""
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
    lines: Sequence[Line], plan: _Plan, link: str | None
) -> tuple[Section, ...]:
    """Splits the lines at lesson headings; text before the first is a section without a number."""
    sections = [_Section(None, link)]
    _fill(sections, lines, plan, link)
    # A lesson may be empty: it still stands in the table of contents. Text outside lessons is left out where it is.
    if sections[0].is_blank:
        del sections[0]
    return tuple([section.finished() for section in sections])


def _fill(
    sections: list[_Section], lines: Sequence[Line], plan: _Plan, link: str | None
) -> None:
    """Puts each line into the last section, and opens one at each lesson."""
    # A page goes on over a lesson's heading, a heading of lower level does not.
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
            heading = _title(line.text)
            sections[-1].end_paragraph()
            sections[-1].mark(_of_heading(line, place), heading)
        elif line.text or not line.place:
            sections[-1].add(line)


def _of_heading(line: Line, place: Line) -> Line:
    """Returns what leads to a heading: its own anchor, or the page that it stands on."""
    return line if line.fragment or not place.place else place


def _without_number(text: str) -> str:
    title = _title(text)
    found = _NUMBERED.match(title) or _LESSON.match(title)
    if found is None:
        return title
    return _title(title[found.end() :]) or title


def _title(text: str) -> str:
    plain = " ".join(text.replace("**", "").strip(_MARKUP).split())
    return plain[:LONGEST_TITLE]


def _link(text: str) -> str | None:
    return web_link(text.strip(_MARKUP).strip("<>"))
