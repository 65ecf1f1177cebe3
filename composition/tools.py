"""The tools of a service: those over its courses, the user's own, and those of MCP servers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from antiphon.dispatcher import (
    CourseLibrary,
    Registry,
    Tool,
    ToolServers,
    course_tools,
    load_tools,
    read_mcp_file,
)
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.imports import needing_extra
from antiphon.vocabulary.values import LessonPart, Passage, StoredText


def registry_of(library: CourseLibrary, own_tools: str) -> Registry:
    """Returns all tools.

    Args:
        own_tools: The user's own, as `ANTIPHON_TOOLS` names them.

    Raises:
        ConfigurationError: One of the user's cannot be loaded.
        ToolDefinitionError: A function cannot be made into a tool.
    """
    return Registry([*course_tools(library), *load_tools(own_tools)])


def with_tools_of_servers(own: Registry, offered: Iterable[Tool]) -> Registry:
    """Returns the service's own tools and those of MCP servers, without substitutes that do not exist."""
    tools = {tool.name: tool for tool in own.tools}
    for tool in offered:
        # A server's tool never replaces one of the service's own, or an earlier one, of the same name.
        tools.setdefault(tool.name, tool)
    for name, tool in tools.items():
        there = [
            other for other in tool.substitutes if other in tools and other != name
        ]
        tools[name] = replace(tool, substitutes=tuple(there))
    return Registry(tools.values())


def tool_servers_of(mcp: Path | None) -> ToolServers | None:
    """Returns the MCP servers that a file names, not connected yet; None if there is no file.

    Raises:
        ConfigurationError: The file cannot be used, or the MCP library is not installed.
    """
    if mcp is None:
        return None
    servers = read_mcp_file(mcp)
    # Imported here, because the library is an optional extra.
    with needing_extra("mcp", "ANTIPHON_MCP"):
        module = import_module("antiphon.dispatcher.mcp_servers.servers")
    found: ToolServers = module.McpServers(servers)
    return found


def tool_definitions(own_tools: str) -> StoredText:
    """Returns the definitions of all tools without opening anything: they do not depend on the courses.

    Raises:
        ConfigurationError: One of the user's tools cannot be loaded.
        ToolDefinitionError: A function cannot be made into a tool.
    """
    return registry_of(_NoLibrary(), own_tools).definitions()


class _NoLibrary:
    """Replaces the courses when tools are only described and not called."""

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
