"""The two tools over the courses, by the names and meanings that course chatbots know, and a keyword search."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Protocol

from pydantic import Field, WithJsonSchema

from antiphon.dispatcher.definition import tool_from_function
from antiphon.dispatcher.fusing import Search, search_phrasings
from antiphon.dispatcher.outlines import list_of, outline_of
from antiphon.dispatcher.output import line
from antiphon.dispatcher.places import (
    CourseCatalogue,
    Place,
    all_courses,
    find_course,
    find_place,
)
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import Json, ToolOutput
from antiphon.vocabulary.values import LessonPart, Passage

# Bounds on the input: the schema shows them to the model, and they keep hostile arguments from the embedder.
Query = Annotated[str, Field(min_length=1, max_length=2_000)]
Phrasings = Annotated[list[Query], Field(max_length=3)]
CourseName = Annotated[str, Field(min_length=1, max_length=300)]
# The schema offers the model only a number, so that it need not choose; a lesson named in words is understood too. A
# negative number counts back from the last lesson.
LessonNumber = Annotated[
    Annotated[int, Field(ge=-1_000, le=100_000)]
    | Annotated[str, Field(min_length=1, max_length=300)],
    WithJsonSchema({"type": "integer"}),
]
NOT_REPEATED = "Passages that earlier rounds found are not repeated here."
SEARCH_EXAMPLES: tuple[Json, ...] = (
    {
        "query": "What does an index cost when rows are written?",
        "why": "To learn the price of an index",
    },
    {
        "query": "When is a hash index better than a B-tree?",
        "course_name": "Introduction to Databases",
        "lesson_number": 4,
        "why": "The question is about that lesson",
    },
    {
        "query": "How do services cope with a consumer that is too slow?",
        "queries": [
            "backpressure",
            "bounded queue, dropped messages, consumer lag",
            "what happens when messages arrive faster than they are processed",
        ],
        "why": "The course may call it otherwise",
    },
)
OUTLINE_EXAMPLES: tuple[Json, ...] = (
    {
        "course_name": "Introduction to Databases",
        "why": "To see which lesson is about indexes",
    },
    {},
)


class CourseLibrary(CourseCatalogue, Protocol):
    """The part of the knowledge that the course tools need; its methods block and may be called from any thread."""

    def search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        *,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        """Returns the best passages by meaning and words, except the known ones, best first."""

    def keyword_search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        *,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        """Returns the best passages by words alone: needs neither embedder nor index."""

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        """Returns the beginning or the end of a lesson."""


def course_tools(library: CourseLibrary) -> tuple[Tool, ...]:
    """Makes `search_course_content`, `get_course_outline`, and `keyword_search`, which only substitutes for these."""
    courses = _CourseTools(library)
    return (
        tool_from_function(
            courses.search_course_content,
            retry_safe=True,
            substitutes=("get_course_outline", "keyword_search"),
            known_parameter="known",
            adapt=_for_substitute,
            strict=True,
            examples=SEARCH_EXAMPLES,
        ),
        tool_from_function(
            courses.get_course_outline,
            retry_safe=True,
            strict=True,
            examples=OUTLINE_EXAMPLES,
        ),
        tool_from_function(
            courses.keyword_search, known_parameter="known", offered=False
        ),
    )


def _for_substitute(substitute: str, given: Json) -> Json:
    """Returns a failed search's arguments for its substitute."""
    # Only the outline of the course in question can replace a search: a list of all courses is no answer. Without a
    # course the arguments keep `query`, which the outline does not take, so the dispatcher skips it. A search by words
    # alone cannot look for a part of a lesson.
    if substitute == "get_course_outline" and given.get("course_name") is not None:
        return {"course_name": given["course_name"]}
    return {name: given[name] for name in given if name != "part"}


class _CourseTools:
    def __init__(self, library: CourseLibrary) -> None:
        self._library = library

    async def search_course_content(
        self,
        query: Query,
        queries: Phrasings | None = None,
        course_name: CourseName | None = None,
        lesson_number: LessonNumber | None = None,
        part: LessonPart | None = None,
        known: Sequence[Passage] = (),
    ) -> ToolOutput:
        """Searches the text of the course lessons and returns the passages that best answer the query.

        Use it for questions about what a course or lesson teaches: facts, explanations, examples, comparisons.
        To compare things, courses or lessons, call it once for each, in one round. Passages of earlier rounds are
        not returned again. So search a second time with names, titles and terms that the first passages brought and
        the question does not hold. For lists of lessons or courses, and their links, use get_course_outline.

        Args:
            query: What to look for: the question in short.
            queries: Up to three more phrasings of the same need, among them the words that an expert or the course
                itself would use; all are searched in one run and fused.
            course_name: Search in this course only, by its title or a part of it. Only for a course that is known to
                exist; leave out to search all courses.
            lesson_number: Search in this lesson only: its number; with course_name -1 is the last lesson, -2 the one
                before.
            part: With course_name and lesson_number: how that lesson begins or ends, whatever the query.
        """
        if part is not None:
            found = await self._part(course_name, lesson_number, part)
            if found:
                return _listing(found)
        return await self._search(
            self._library.search,
            _phrasings(query, queries),
            course_name,
            lesson_number,
            known,
        )

    async def keyword_search(
        self,
        query: Query,
        queries: Phrasings | None = None,
        course_name: CourseName | None = None,
        lesson_number: LessonNumber | None = None,
        known: Sequence[Passage] = (),
    ) -> ToolOutput:
        """Searches the text of the course lessons by words alone."""
        return await self._search(
            self._library.keyword_search,
            _phrasings(query, queries),
            course_name,
            lesson_number,
            known,
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
            return list_of(await asyncio.to_thread(all_courses, self._library))
        title = await asyncio.to_thread(find_course, self._library, course_name)
        course = await asyncio.to_thread(self._library.outline, title)
        if course is None:
            raise NotFoundError(f"The course {line(title, 300)!r} is no longer there.")
        return outline_of(course)

    async def _search(
        self,
        search: Search,
        phrasings: Sequence[str],
        course_name: str | None,
        lesson: int | str | None,
        known: Sequence[Passage],
    ) -> ToolOutput:
        # The library blocks on embedding and on SQLite: in a thread it holds up no other query.
        place = await asyncio.to_thread(find_place, self._library, course_name, lesson)
        found = await asyncio.to_thread(
            search_phrasings, search, phrasings, place, known
        )
        if not found:
            return _nothing_found(phrasings[0], place, known)
        if known:
            return _listing(found, NOT_REPEATED)
        return _listing(found)

    async def _part(
        self, course_name: str | None, lesson: int | str | None, part: LessonPart
    ) -> list[Passage]:
        """Returns the beginning or end of a lesson; nothing if the arguments do not name one lesson of one course."""
        place = await asyncio.to_thread(find_place, self._library, course_name, lesson)
        if place.course is None or place.lesson is None:
            return []
        return await asyncio.to_thread(
            self._library.lesson_part, place.course, place.lesson, part
        )


def _phrasings(query: str, queries: Sequence[str] | None) -> list[str]:
    """Returns the phrasings to search by, each once, the short question first."""
    return list(dict.fromkeys([query, *(queries or ())]))


def _listing(found: Sequence[Passage], *notes: str) -> ToolOutput:
    """Returns passages as a tool's output, below the notes that apply to all of them."""
    listed = [*notes, *map(_listed, found)]
    return ToolOutput(text="\n\n".join(listed), passages=tuple(found))


def _listed(passage: Passage) -> str:
    """Returns a passage's text below its source and its place there."""
    head = passage.source
    places = passage.places_from(0, len(passage.text.text) - 1)
    if places:
        head = f"{head}, {places}"
    return f"[{head}]\n{passage.text.text}"


def _nothing_found(query: str, place: Place, known: Sequence[Passage]) -> ToolOutput:
    where = f" in lesson {place.lesson}" if place.lesson is not None else ""
    if place.course is not None and place.lesson is not None:
        where += f" of the course '{place.course}'"
    elif place.course is not None:
        where = f" in the course '{place.course}'"
    if known:
        where += " beside what earlier rounds found"
    return ToolOutput(text=f"Nothing was found for '{line(query, 200)}'{where}.")
