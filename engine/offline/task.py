"""One request to the offline reasoner: the question, its evidence, what was tried, and which tools may be called."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.language.markup import Attempt
from antiphon.language.words import terms, words

_SOURCE = re.compile(r"(?P<course>.+?) - Lesson (?P<lesson>\d+)$")
_LESSON_LINE = re.compile(r"Lesson (\d+): (.+)")
_UNKNOWN_COURSE = "No course named "
"""The beginning of the course tools' words where there is no such course."""
_COURSE_LINE = re.compile(r"Course: .")


class OfferedTool(NamedTuple):
    """A tool of the request: what it says of itself, and its parameters' JSON schemas by name."""

    name: str
    description: str
    parameters: dict[str, dict[str, object]]
    required: tuple[str, ...]

    @property
    def needs_one_text(self) -> bool:
        """True for a tool that can be called with the question: what else to give it would be a guess."""
        return len(self.required) == 1 and self.parameters.get(self.required[0], {}).get("type") == "string"


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
        """The course it belongs to, or the whole label where that says no lesson."""
        found = _SOURCE.match(self.source)
        return found["course"] if found else self.source

    @property
    def lesson(self) -> int | None:
        found = _SOURCE.match(self.source)
        return int(found["lesson"]) if found else None

    @property
    def is_outline(self) -> bool:
        """True for a course's table of contents."""
        return bool(self.blocks) and bool(_COURSE_LINE.match(self.blocks[0])) and self.lesson is None

    @property
    def label(self) -> str:
        """The words that its passages stand under, for judging how well they fit."""
        return f"{self.source} {self.title}"

    def lesson_line(self, number: int) -> tuple[int, str] | None:
        """Returns the block and the title of a lesson, in an outline."""
        for at, block in enumerate(self.blocks):
            found = _LESSON_LINE.match(block.strip())
            if found and int(found[1]) == number:
                return at, found[2].strip()
        return None


class Task(NamedTuple):
    """All that planning and answering may use.

    Attributes:
        earlier: Earlier questions of the conversation, oldest first.
        tools: What may be called now; none in the final call.
    """

    question: str
    earlier: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    tools: tuple[OfferedTool, ...] = ()

    @property
    def rounds_done(self) -> int:
        return len({attempt.round for attempt in self.attempts})

    @property
    def passages(self) -> tuple[Source, ...]:
        """The evidence that is text: everything but outlines."""
        return tuple([source for source in self.sources if not source.is_outline])

    @property
    def outlines(self) -> tuple[Source, ...]:
        return tuple([source for source in self.sources if source.is_outline])

    @property
    def unknown_course(self) -> str | None:
        """The outline tool's words on a course that does not exist; None where it found one."""
        if not self.outlines:
            for attempt in self.attempts:
                if attempt.outcome == "failed" and attempt.detail.startswith(_UNKNOWN_COURSE):
                    return attempt.detail
        return None

    @property
    def outline_is_settled(self) -> bool:
        """True where an outline was found, or where it is known that there is no such course."""
        return bool(self.outlines) or self.unknown_course is not None

    def offers(self, name: str) -> bool:
        return any(tool.name == name for tool in self.tools)

    def passages_of(self, course: str | None) -> tuple[Source, ...]:
        """Returns the passages of the course that the question names; all where none is of it."""
        return _of_course(course, self.passages)

    def found_for(self, topic: str, course: str | None) -> tuple[Source, ...]:
        """Returns the passages that were searched for by this topic, best first; all of its course where none was."""
        numbers: dict[int, None] = {}
        for attempt in self.attempts:
            if _is_search_for(topic, attempt):
                numbers.update(dict.fromkeys(attempt.facts))
        found: list[Source] = []
        for number in numbers:
            if 0 < number <= len(self.sources) and not self.sources[number - 1].is_outline:
                found.append(self.sources[number - 1])
        return _of_course(course, tuple(found) or self.passages)


def _is_search_for(topic: str, attempt: Attempt) -> bool:
    """True for a search that was made for this topic, in its own words or in fewer of them."""
    query = attempt.arguments.get("query")
    if not isinstance(query, str) or not words(query):
        return False
    return frozenset(words(query)) <= frozenset(words(topic))


def _of_course(name: str | None, sources: tuple[Source, ...]) -> tuple[Source, ...]:
    wanted = frozenset(terms(name or ""))
    return tuple([source for source in sources if wanted <= frozenset(terms(source.course))]) or sources
