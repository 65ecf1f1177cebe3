"""One request to the offline reasoner: the question, its evidence, what was tried, and which tools may be called."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from antiphon.engine.offline.catalogue import EMPTY, Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.language.evidence import telling_words
from antiphon.language.markup import Attempt
from antiphon.language.words import terms, words

# In a tool's plain words the place in the lesson's file may follow.
_LESSON_SOURCE = re.compile(r"(?P<course>.+?) - Lesson (?P<lesson>\d+)(?:, .+)?$")
_LESSON_LINE = re.compile(r"Lesson (\d+): (.+)")
_LIST_LINE = re.compile(r"Courses: \d")
ALL_COURSES = "All courses"
"""The source of the list that the outline tool gives without a name."""
_UNKNOWN_COURSE = "No course named "
"""The beginning of the course tools' words where there is no such course."""
_COURSE_LINE = re.compile(r"Course: .")

SEARCH = "search_course_content"
OUTLINE = "get_course_outline"
PART = "part"
"""The argument of a search that asks for the beginning or the end of a lesson."""
COURSE_TOOLS = frozenset({SEARCH, OUTLINE})


class Planned(NamedTuple):
    """A tool call to ask for."""

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
        """True for a tool that can be called with the question: what else to give it would be a guess."""
        return (
            len(self.required) == 1
            and self.parameters.get(self.required[0], {}).get("type") == "string"
        )


class LessonLine(NamedTuple):
    """A lesson as an outline names it: the outline, the number of its block, and the title."""

    outline: Source
    block: int
    number: int
    title: str


class Source(NamedTuple):
    """A piece of evidence in the request.

    Attributes:
        number: Its place among the request's search results, from 0; None where it cannot be cited.
        blocks: Its content blocks, a sentence or a line each.
    """

    number: int | None
    source: str
    title: str
    blocks: tuple[str, ...]

    @property
    def course(self) -> str:
        """The course it belongs to, or the whole label where that names no lesson."""
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
    def place(self) -> str:
        """Course and lesson in words."""
        if self.lesson is None:
            return self.course
        return f"{self.course}, lesson {self.lesson} (\u201c{self.title}\u201d)"

    @property
    def is_outline(self) -> bool:
        """True for a course's table of contents."""
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
        """True for what a lesson or a tool says, rather than the catalogue."""
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
        """The words that its passages stand under, for judging how well they fit."""
        return f"{self.source} {self.title}"


class Task(NamedTuple):
    """All that planning and answering may use.

    Attributes:
        earlier: Earlier questions of the conversation, oldest first.
        answered: The answer to the last of them.
        tools: What may be called now; none in the final call.
        catalogue: The courses that there are; empty where none is at hand.
    """

    question: str
    earlier: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    answered: str = ""
    catalogue: Catalogue = EMPTY

    @property
    def inquiry(self) -> Inquiry:
        """The question as it is understood."""
        return understand(self.question, self.earlier, self.catalogue, self.answered)

    @property
    def rounds_done(self) -> int:
        return len({attempt.round for attempt in self.attempts})

    @property
    def passages(self) -> tuple[Source, ...]:
        """The evidence that is text: everything but outlines."""
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
        """True where an outline or the list of all courses was found."""
        return bool(self.outlines or self.lists)

    @property
    def unknown_course(self) -> str | None:
        """The outline tool's words on a course that does not exist; None where it was asked for none such."""
        for attempt in self.attempts:
            if attempt.outcome == "failed" and attempt.detail.startswith(
                _UNKNOWN_COURSE
            ):
                return attempt.detail
        return None

    @property
    def outline_is_settled(self) -> bool:
        """True where an outline was found, or where it is known that there is no such course."""
        return self.has_catalogue or self.unknown_course is not None

    @property
    def own_tools(self) -> tuple[OfferedTool, ...]:
        """The tools that are none of the courses'."""
        return tuple([tool for tool in self.tools if tool.name not in COURSE_TOOLS])

    @property
    def tool_names(self) -> frozenset[str]:
        return frozenset([tool.name for tool in self.tools])

    def lesson_line(self, number: int | None) -> LessonLine | None:
        """Finds the lesson of this number in the first outline that names it."""
        for outline in self.outlines:
            line = outline.lesson_line(number)
            if line is not None:
                return line
        return None

    def passages_of(
        self, course: str | None, lesson: int | None = None
    ) -> tuple[Source, ...]:
        """Returns the passages of the course and lesson that the question names.

        Where none is of them: none of a lesson that there is, for another lesson is no answer; else all. What a tool
        of the user's own found belongs to no course, and is about the question all the same.
        """
        of_course = _of_course(course, self.passages)
        if lesson is not None:
            of_lesson = [source for source in of_course if source.lesson == lesson]
            if of_lesson or self.catalogue.course(course) is not None:
                of_course = tuple(of_lesson)
        further = [
            source for source in self._found_by_own_tools() if source not in of_course
        ]
        return (*of_course, *further)

    def _found_by_own_tools(self) -> list[Source]:
        found: list[Source] = []
        for attempt in self.attempts:
            if attempt.tool not in COURSE_TOOLS:
                found += self.numbered(attempt.facts)
        return found

    def numbered(self, numbers: Iterable[int]) -> list[Source]:
        """Returns the passages of these numbers, which count from 1; some may be none, for a request is anybody's."""
        by_number = dict(enumerate(self.sources, start=1))
        found: list[Source] = []
        for number in numbers:
            source = by_number.get(number)
            if source is not None and source.is_text:
                found.append(source)
        return found

    def was_searched_everywhere(self, topic: str) -> bool:
        """Returns True if a search for this topic looked into all courses, and came back."""
        for attempt in self.attempts:
            narrowed = attempt.arguments.keys() & {"course_name", "lesson_number"}
            if narrowed or attempt.outcome == "failed":
                continue
            if _is_search_for(topic, attempt):
                return True
        return False

    def found_for(self, topic: str, course: str | None) -> tuple[Source, ...]:
        """Returns the passages that were searched for by this topic, best first; all of its course where none was."""
        # A dict keeps the order in which they were found, and each number once.
        numbers: dict[int, None] = {}
        for attempt in self.attempts:
            if _is_search_for(topic, attempt):
                numbers.update(dict.fromkeys(attempt.facts))
        found = self.numbered(numbers)
        if not found:
            return self.passages_of(course)
        return _of_course(course, tuple(found))

    def best_found(self, topic: str, course: str | None) -> Source | None:
        """Returns the best passage for a topic: of a lesson that is called after it, where one was found."""
        found = self.found_for(topic, course)
        named = frozenset(terms(" ".join(telling_words(topic))))
        for source in found:
            if named and named <= frozenset(terms(source.title)):
                return source
        return next(iter(found), None)


def _is_search_for(topic: str, attempt: Attempt) -> bool:
    """True for a search that was made for this topic: in its own words, in fewer of them, or with what they led to."""
    query = attempt.arguments.get("query")
    if not isinstance(query, str):
        return False
    searched = frozenset(words(query))
    wanted = frozenset(words(topic))
    if not searched or not wanted:
        return False
    return searched <= wanted or query.startswith(topic)


def _of_course(name: str | None, sources: tuple[Source, ...]) -> tuple[Source, ...]:
    """Returns the sources of the course whose title holds all terms of `name`; all where none is of it."""
    if name is None:
        return sources
    wanted = frozenset(terms(name))
    of_course: list[Source] = []
    for source in sources:
        if wanted <= frozenset(terms(source.course)):
            of_course.append(source)
    if not of_course:
        return sources
    return tuple(of_course)
