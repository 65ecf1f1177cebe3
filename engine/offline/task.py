"""One request to the offline reasoner: the question, its evidence, earlier attempts, and the tools on offer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from antiphon.engine.offline.names import EMPTY, Catalogue
from antiphon.language.markup import Attempt

# In a tool's plain words, the place in the lesson's file may follow.
_LESSON_SOURCE = re.compile(r"(?P<course>.+?) - Lesson (?P<lesson>\d+)(?:, .+)?$")
_LESSON_LINE = re.compile(r"Lesson (\d+): (.+)")
_LIST_LINE = re.compile(r"Courses: \d")
ALL_COURSES = "All courses"
"""The source of the outline tool's list of courses, which it returns if a call names no course."""
_UNKNOWN_COURSE = "No course named "
"""The beginning of the course tools' message for an unknown course."""
_COURSE_LINE = re.compile(r"Course: .")

SEARCH = "search_course_content"
OUTLINE = "get_course_outline"
COURSE_TOOLS = frozenset({SEARCH, OUTLINE})


class Planned(NamedTuple):
    """A tool call to make."""

    tool: str
    arguments: dict[str, object]


class OfferedTool(NamedTuple):
    """A tool of the request: its own description, and its parameters' JSON schemas by name."""

    name: str
    description: str
    parameters: dict[str, dict[str, object]]
    required: tuple[str, ...]

    @property
    def needs_one_text(self) -> bool:
        """True for a tool whose only required argument is a text, for which the question can serve."""
        return (
            len(self.required) == 1
            and self.parameters.get(self.required[0], {}).get("type") == "string"
        )


class LessonLine(NamedTuple):
    """A lesson in an outline: the outline, the number of its block, and the title."""

    outline: Source
    block: int
    number: int
    title: str


class Source(NamedTuple):
    """A piece of evidence in the request.

    Attributes:
        number: Its index among the request's search results, from 0; None if it cannot be cited.
        blocks: Its content blocks, each a sentence or a line.
    """

    number: int | None
    source: str
    title: str
    blocks: tuple[str, ...]

    @property
    def course(self) -> str:
        """The course it belongs to, or the whole label if that names no lesson."""
        found = _LESSON_SOURCE.match(self.source)
        if found is None:
            return self.source
        return found["course"]

    @property
    def lesson(self) -> int | None:
        found = _LESSON_SOURCE.match(self.source)
        if found is None:
            return None
        return int(found["lesson"])

    @property
    def is_outline(self) -> bool:
        """True for a course's table of contents."""
        # A lesson's text may begin with the same word as an outline.
        if not self.blocks or self.lesson is not None:
            return False
        return _COURSE_LINE.match(self.blocks[0]) is not None

    @property
    def is_list(self) -> bool:
        """True for the list of all courses."""
        if not self.blocks or self.source != ALL_COURSES:
            return False
        return _LIST_LINE.match(self.blocks[0]) is not None

    @property
    def is_text(self) -> bool:
        """True for the text of a lesson or a tool, as opposed to the catalogue."""
        return not self.is_outline and not self.is_list

    def lesson_line(self, number: int | None) -> LessonLine | None:
        """Finds the lesson of this number in an outline."""
        for at, block in enumerate(self.blocks):
            line = _LESSON_LINE.match(block.strip())
            if line and int(line[1]) == number:
                return LessonLine(self, at, int(line[1]), line[2].strip())
        return None

    @property
    def label(self) -> str:
        """The words of its headings, for judging how well its passages fit."""
        return f"{self.source} {self.title}"


class Task(NamedTuple):
    """All that planning and answering may use.

    Attributes:
        earlier: Earlier questions of the conversation, oldest first.
        conversation: The part of the conversation in the request, a line for each question and answer.
        tools: The tools that may be called now; none in the final call.
        catalogue: All courses; empty if there is no catalogue.
    """

    question: str
    earlier: tuple[str, ...] = ()
    conversation: str = ""
    sources: tuple[Source, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    catalogue: Catalogue = EMPTY

    @property
    def rounds_done(self) -> int:
        return len({attempt.round for attempt in self.attempts})

    @property
    def passages(self) -> tuple[Source, ...]:
        """The evidence that is text: all except outlines."""
        return tuple([source for source in self.sources if source.is_text])

    @property
    def outlines(self) -> tuple[Source, ...]:
        return tuple([source for source in self.sources if source.is_outline])

    @property
    def lists(self) -> tuple[Source, ...]:
        """The lists of all courses."""
        return tuple([source for source in self.sources if source.is_list])

    @property
    def has_catalogue(self) -> bool:
        """True if an outline or the list of all courses was found."""
        return bool(self.outlines or self.lists)

    @property
    def unknown_course(self) -> str | None:
        """The outline tool's message on a course that does not exist; None if no call named such a course."""
        for attempt in self.attempts:
            if attempt.outcome == "failed" and attempt.detail.startswith(
                _UNKNOWN_COURSE
            ):
                return attempt.detail
        return None

    @property
    def own_tools(self) -> tuple[OfferedTool, ...]:
        """The tools other than the course tools."""
        return tuple([tool for tool in self.tools if tool.name not in COURSE_TOOLS])

    @property
    def tool_names(self) -> frozenset[str]:
        return frozenset([tool.name for tool in self.tools])

    def numbered(self, numbers: Iterable[int]) -> list[Source]:
        """Returns the passages with these numbers, from 1; skips invalid ones, since a request may come from anyone."""
        by_number = dict(enumerate(self.sources, start=1))
        found: list[Source] = []
        for number in numbers:
            source = by_number.get(number)
            if source is not None and source.is_text:
                found.append(source)
        return found
