"""The two tools over the courses, by the names and meanings that course chatbots know, and a keyword search."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Annotated, Protocol

from pydantic import Field

from antiphon.dispatcher.definition import tool_from_function
from antiphon.dispatcher.outlines import Course, list_of, outline_of
from antiphon.dispatcher.output import line
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import Json, ToolOutput
from antiphon.vocabulary.values import Passage

# Bounds of the schema: the model is shown them, and they keep hostile arguments from the embedder.
Query = Annotated[str, Field(min_length=1, max_length=2_000)]
CourseName = Annotated[str, Field(min_length=1, max_length=300)]
LessonNumber = Annotated[int, Field(ge=0, le=100_000)]


class CourseMatch(Protocol):
    """The course that a name stands for: its title, or None and the nearest titles."""

    @property
    def title(self) -> str | None: ...
    @property
    def nearest(self) -> tuple[str, ...]: ...


class CourseLibrary(Protocol):
    """The part of the knowledge that the course tools need; it blocks and may be called from any thread."""

    def search(
        self, query: str, course: str | None, lesson: int | None
    ) -> list[Passage]:
        """Returns the best passages by meaning and words, best first."""

    def keyword_search(
        self, query: str, course: str | None, lesson: int | None
    ) -> list[Passage]:
        """Returns the best passages by words alone: needs neither embedder nor index."""

    def resolve_course(self, name: str) -> CourseMatch: ...

    def outline(self, title: str) -> Course | None: ...

    def courses(self) -> Sequence[Course]:
        """Returns all courses, by title."""


_Search = Callable[[str, str | None, int | None], list[Passage]]


def course_tools(library: CourseLibrary) -> tuple[Tool, ...]:
    """Makes `search_course_content`, `get_course_outline`, and `keyword_search`, which is not offered to the model."""
    courses = _CourseTools(library)
    return (
        tool_from_function(
            courses.search_course_content,
            retry_safe=True,
            substitutes=("get_course_outline", "keyword_search"),
            adapt=_for_substitute,
        ),
        tool_from_function(courses.get_course_outline, retry_safe=True),
        tool_from_function(courses.keyword_search, offered=False),
    )


def _for_substitute(substitute: str, given: Json) -> Json:
    """Returns a failed search's arguments for what stands in for it."""
    # Only the outline of the course that was meant may answer for a search: a list of all courses is no answer. With
    # the query it is passed over, for it takes none.
    if substitute == "get_course_outline" and given.get("course_name") is not None:
        return {"course_name": given["course_name"]}
    return given


class _CourseTools:
    def __init__(self, library: CourseLibrary) -> None:
        self._library = library

    async def search_course_content(
        self,
        query: Query,
        course_name: CourseName | None = None,
        lesson_number: LessonNumber | None = None,
    ) -> ToolOutput:
        """Searches the text of the course lessons and returns the passages that best answer the query, by meaning.

        Use it for questions about what a course or lesson teaches: facts, explanations, examples, comparisons.
        To compare two courses or lessons, call it once for each. It does not list a course's lessons: for titles,
        links or the number of lessons use get_course_outline.

        Args:
            query: What to look for, as a short question or phrase in the words that the course would use.
            course_name: Search in this course only. Part of its title is enough. Leave out to search all courses.
            lesson_number: Search in the lesson of this number only.
        """
        return await self._search(
            self._library.search, query, course_name, lesson_number
        )

    async def keyword_search(
        self,
        query: Query,
        course_name: CourseName | None = None,
        lesson_number: LessonNumber | None = None,
    ) -> ToolOutput:
        """Searches the text of the course lessons by words alone."""
        return await self._search(
            self._library.keyword_search, query, course_name, lesson_number
        )

    async def get_course_outline(
        self, course_name: CourseName | None = None
    ) -> ToolOutput:
        """Returns a course's outline: its title, instructor and link, how many lessons it has, their titles and links.

        Without course_name it lists all courses, with the number of their lessons, instructors and links, and where
        that is not too long the titles of their lessons.

        Use it for questions about how a course is built or which courses there are: who teaches it, which lessons it
        has, how many, what comes when, or which course or lesson treats a topic by its title. It holds no lesson
        text: for what a lesson says use search_course_content.

        Args:
            course_name: The course's title; part of it is enough. Leave out to list all courses.
        """
        if course_name is None:
            courses = await asyncio.to_thread(self._library.courses)
            if not courses:
                raise NotFoundError("There are no courses yet.")
            return list_of(courses)
        title = await self._title(course_name)
        course = await asyncio.to_thread(self._library.outline, title)
        if course is None:
            raise NotFoundError(f"The course {line(title, 300)!r} is no longer there.")
        return outline_of(course)

    async def _search(
        self, search: _Search, query: str, course_name: str | None, lesson: int | None
    ) -> ToolOutput:
        course = None
        if course_name is not None:
            course = await self._title(course_name)
        # The library blocks, on embedding and on SQLite: in a thread it holds up no other query.
        found = await asyncio.to_thread(search, query, course, lesson)
        if not found:
            return _nothing_found(query, course, lesson)
        listed = [f"[{passage.source}]\n{passage.text.text}" for passage in found]
        return ToolOutput(text="\n\n".join(listed), passages=tuple(found))

    async def _title(self, name: str) -> str:
        match = await asyncio.to_thread(self._library.resolve_course, name)
        if match.title is not None:
            return match.title
        hint = "There are no courses yet."
        if match.nearest:
            nearest = "; ".join([line(title, 200) for title in match.nearest[:5]])
            hint = f"The nearest are: {nearest}."
        raise NotFoundError(f"No course named '{line(name, 200)}'. {hint}")


def _nothing_found(query: str, course: str | None, lesson: int | None) -> ToolOutput:
    where = ""
    if lesson is not None and course is not None:
        where = f" in lesson {lesson} of the course '{course}'"
    elif lesson is not None:
        where = f" in lesson {lesson}"
    elif course is not None:
        where = f" in the course '{course}'"
    return ToolOutput(text=f"Nothing was found for '{line(query, 200)}'{where}.")
