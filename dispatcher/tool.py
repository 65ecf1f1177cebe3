"""Tools as the dispatcher sees them: one tool, and the registry of all tools of a service."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from antiphon.dispatcher.parameters import Parameters
from antiphon.dispatcher.strict_schema import strict_schema
from antiphon.vocabulary.errors import BadInputError, ToolDefinitionError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.tool_calls import EFFECTS_NOTE
from antiphon.vocabulary.values import Passage, StoredText

Adapt = Callable[[str, Json], Json]
"""Maps a substitute's name and the failed call's arguments to the arguments for the substitute."""


class CallContext(NamedTuple):
    """Values that the dispatcher, not the model, gives to a call.

    Attributes:
        key: The call's idempotency key.
        known: The passages that earlier rounds of the query found, in order of discovery.
    """

    key: str = ""
    known: tuple[Passage, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool; `tool_from_function` makes it from a plain function.

    Attributes:
        description: The text by which the model chooses it.
        run: Called with the checked arguments by name; output.py says what it may return.
        timeout_s: Most seconds for one call; None: as the query's settings say.
        retry_safe: Running it twice does no harm, so the dispatcher tries it again if it raises.
        substitutes: Names of the tools to run if it fails, first choice first.
        has_effects: It changes something outside: a resumed query repeats it only with a key.
        key_parameter: The parameter of `run` for the call's idempotency key, which the model does not see: the same key
            means the same call, repeated. None: it takes no key.
        known_parameter: The parameter of `run` for the passages that earlier rounds of the query found, so that a
            search need not return them again. None: it takes none.
        adapt: Makes arguments for a substitute; None: the substitute gets those whose names it knows.
        offered: The model may call it; otherwise it only substitutes for others.
        strict: The API constrains Claude's arguments to the schema while Claude writes them.
        examples: Arguments of model calls, which the model sees.

    Raises:
        ToolDefinitionError: An example does not fit the parameters, or these cannot be constrained.
    """

    name: str
    description: str
    parameters: Parameters
    run: Callable[..., Awaitable[object]]
    timeout_s: float | None = None
    retry_safe: bool = False
    substitutes: tuple[str, ...] = ()
    has_effects: bool = False
    key_parameter: str | None = None
    known_parameter: str | None = None
    adapt: Adapt | None = None
    offered: bool = True
    strict: bool = False
    examples: tuple[Json, ...] = ()

    def __post_init__(self) -> None:
        # Only for its errors, which should come when the tool is made instead of with the first request.
        if self.strict:
            strict_schema(self.parameters.schema, self.origin)
        for number, example in enumerate(self.examples, start=1):
            try:
                self.parameters.check_example(example)
            except BadInputError as error:
                raise ToolDefinitionError(
                    f"Tool {self.origin} cannot be called as its example {number} shows: {error}"
                ) from error

    @property
    def schema(self) -> Json:
        """The JSON schema of its arguments that the model gets."""
        if self.strict:
            return strict_schema(self.parameters.schema, self.origin)
        return self.parameters.schema

    @property
    def origin(self) -> str:
        """The module and name of its function, for messages to its author."""
        return origin(self.run)


def origin(function: Callable[..., object]) -> str:
    """Returns `module.name` of a function, or its repr if it has no name."""
    # A plain function runs inside a wrapper for threads, whose place means nothing to its author.
    function = inspect.unwrap(function)
    name = getattr(function, "__qualname__", None)
    if not name:
        return repr(function)
    return f"{function.__module__}.{name}"


def _definition(tool: Tool) -> Json:
    """Returns a tool in the form of the Messages API; the request leaves out fields that a server does not know."""
    definition: Json = {
        "name": tool.name,
        "description": _described(tool),
        "input_schema": tool.schema,
    }
    if tool.strict:
        definition["strict"] = True
    if tool.examples:
        definition["input_examples"] = list(tool.examples)
    return definition


def _described(tool: Tool) -> str:
    if tool.has_effects:
        return f"{tool.description}\n\n{EFFECTS_NOTE}"
    return tool.description


class Registry:
    """The tools of a service, by name; made once, never changed, shared by all sessions.

    Attributes:
        is_wrapped: The tools behave differently here from tools with the same definitions elsewhere.

    Raises:
        ToolDefinitionError: Two tools have one name, or a substitute is not there.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.is_wrapped = False
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            first = self._tools.get(tool.name)
            if first:
                raise ToolDefinitionError(
                    f"Two tools are called {tool.name!r}: {first.origin} and {tool.origin}; rename one."
                )
            self._tools[tool.name] = tool
        # Only now, because a substitute may come after the tool that names it.
        for tool in self._tools.values():
            self._check_substitutes(tool)
        self._definitions = self._define()

    @property
    def names(self) -> tuple[str, ...]:
        """The tools that the model may call, sorted."""
        return tuple(
            sorted([tool.name for tool in self._tools.values() if tool.offered])
        )

    @property
    def tools(self) -> tuple[Tool, ...]:
        """All tools, including those that only substitute for others."""
        return tuple(self._tools.values())

    def offered(self, name: str) -> Tool | None:
        """Returns the tool that the model calls by `name`; None if it may call none of that name."""
        tool = self._tools.get(name)
        if tool is None or not tool.offered:
            return None
        return tool

    def substitutes(self, tool: Tool) -> tuple[Tool, ...]:
        """Returns the tools to run if `tool` fails, first choice first."""
        return tuple([self._tools[name] for name in tool.substitutes])

    def wrapped(self, wrap: Callable[[Tool], Tool]) -> Registry:
        """Returns the same tools, each as `wrap` returns it; `wrap` must keep names and definitions."""
        wrapped = Registry(map(wrap, self.tools))
        wrapped.is_wrapped = True
        return wrapped

    def definitions(self) -> StoredText:
        """Returns the `tools` of a Messages API request as JSON."""
        return self._definitions

    def _define(self) -> StoredText:
        # Sorted by name, so that the bytes never vary: servers cache them.
        definitions = [_definition(self._tools[name]) for name in self.names]
        return StoredText(
            json.dumps(definitions, ensure_ascii=False, separators=(",", ":"))
        )

    def _check_substitutes(self, tool: Tool) -> None:
        for name in tool.substitutes:
            if name == tool.name or name not in self._tools:
                others = ", ".join(sorted(set(self._tools) - {tool.name})) or "none"
                raise ToolDefinitionError(
                    f"Tool {tool.name!r} ({tool.origin}) names {name!r} as its substitute; other tools here: {others}."
                )
