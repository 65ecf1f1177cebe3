"""The tools of a service: those over its courses, and the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from antiphon.dispatcher import CourseLibrary, Registry, course_tools, load_tools
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.values import LessonPart, Passage, StoredText


def registry_of(library: CourseLibrary, own_tools: str) -> Registry:
    """Returns all tools.

    Args:
        own_tools: The user's, as `ANTIPHON_TOOLS` names them.

    Raises:
        ConfigurationError: One of these cannot be loaded.
        ToolDefinitionError: A function cannot be made into a tool.
    """
    return Registry([*course_tools(library), *load_tools(own_tools)])


def tool_definitions(own_tools: str) -> StoredText:
    """Returns the definitions of all tools without opening anything: they are the same whatever the courses are.

    Raises:
        ConfigurationError: A tool of the user's cannot be loaded.
        ToolDefinitionError: A function cannot be made into a tool.
    """
    return registry_of(_NoLibrary(), own_tools).definitions()


class _NoLibrary:
    """Stands in for the courses when tools are looked at and not called."""

    def search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        known: Sequence[Passage] = (),  # noqa: ARG002 - nothing is found, known or not
    ) -> NoReturn:
        where = f"course {course!r}, lesson {lesson}"
        raise KnowledgeError(f"no courses are open to search for {query!r} ({where})")

    keyword_search = search

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> NoReturn:
        where = f"lesson {lesson} of {course!r}"
        raise KnowledgeError(f"no courses are open to read the {part} of {where}")

    def resolve_course(self, name: str) -> NoReturn:
        raise KnowledgeError(f"no courses are open: {name!r} cannot be found")

    outline = resolve_course

    def resolve_lesson(self, name: int | str, course: str | None) -> NoReturn:
        raise KnowledgeError(
            f"no courses are open: lesson {name!r} of {course!r} cannot be found"
        )

    def courses(self) -> NoReturn:
        raise KnowledgeError("no courses are open: none can be listed")
