"""The tools of a service, by name; made once, never changed, shared by all sessions."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.values import StoredText


class Registry:
    """Finds tools, and tells the model of those that it may call.

    Raises:
        ToolDefinitionError: Two tools have one name, or a substitute is not there.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            first = self._tools.get(tool.name)
            if first:
                raise ToolDefinitionError(
                    f"Two tools are called {tool.name!r}: {first.origin} and {tool.origin}; rename one."
                )
            self._tools[tool.name] = tool
        for tool in self._tools.values():
            self._check_substitutes(tool)
        self._definitions = StoredText(_definitions([self._tools[name] for name in self.names]))

    @property
    def names(self) -> tuple[str, ...]:
        """The tools that the model may call, sorted."""
        return tuple(sorted(name for name, tool in self._tools.items() if tool.offered))

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools, those that only stand in for others among them."""
        return tuple(self._tools.values())

    def offered(self, name: str) -> Tool | None:
        """The tool that the model means by `name`; None where it may call none of that name."""
        tool = self._tools.get(name)
        return tool if tool and tool.offered else None

    def substitutes(self, tool: Tool) -> tuple[Tool, ...]:
        """What stands in for `tool`, first choice first."""
        return tuple(self._tools[name] for name in tool.substitutes)

    def wrapped(self, wrap: Callable[[Tool], Tool]) -> Registry:
        """The same tools, each as `wrap` returns it; names and definitions must stay."""
        return Registry(wrap(tool) for tool in self._tools.values())

    def definitions(self) -> StoredText:
        """The `tools` of a Messages API request as JSON: sorted by name, the same bytes every time (it is cached)."""
        return self._definitions

    def _check_substitutes(self, tool: Tool) -> None:
        for name in tool.substitutes:
            if name == tool.name or name not in self._tools:
                others = ", ".join(sorted(set(self._tools) - {tool.name})) or "none"
                raise ToolDefinitionError(
                    f"Tool {tool.name!r} ({tool.origin}) names {name!r} as its substitute; other tools here: {others}."
                )


def _definitions(tools: Iterable[Tool]) -> str:
    told = [{"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in tools]
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))
