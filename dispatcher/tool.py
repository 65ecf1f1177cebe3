"""Tools as the dispatcher knows them: one tool, and the registry of all tools of a service."""

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
"""Given a substitute's name and the failed call's arguments: the arguments for the substitute."""


class CallContext(NamedTuple):
    """What a call may be handed that the model does not send.

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
        description: What the model reads in order to choose it.
        run: Called with the checked arguments by name; what it may return is in output.py.
        timeout_s: Most seconds that one call may take; None: what the query's settings say.
        retry_safe: Running it a second time does no harm, so it is tried once more when it raises.
        substitutes: Names of the tools that stand in for it, first choice first.
        has_effects: It changes something outside: when a query is resumed it is repeated only with a key.
        key_parameter: The parameter of `run` that is handed the call's idempotency key, which the model does not see:
            the same key is the same call, repeated. None: it takes none.
        known_parameter: The parameter of `run` that is handed the passages which earlier rounds of the query found, so
            that a search need not bring them again. None: it takes none.
        adapt: Makes arguments for a substitute; None: those that the substitute knows by name are kept.
        offered: The model may call it; one that is not offered only stands in for others.
        strict: Claude's arguments are constrained to the schema while they are written.
        examples: Arguments that the model sees, each a call as it should be.

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
        """The JSON schema of its arguments, as the model is given it."""
        if self.strict:
            return strict_schema(self.parameters.schema, self.origin)
        return self.parameters.schema

    @property
    def origin(self) -> str:
        """The place of its function, for messages to its author."""
        return origin(self.run)


def origin(function: Callable[..., object]) -> str:
    """Returns `module.name` of a function, or what it prints as if it has no name."""
    function = inspect.unwrap(function)
    name = getattr(function, "__qualname__", None)
    if not name:
        return repr(function)
    return f"{function.__module__}.{name}"


def _definition(tool: Tool) -> Json:
    """Returns a tool as the Messages API takes it; what a server does not know is left out if a request is built."""
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
        is_wrapped: They do something else here than the tools of these definitions do elsewhere.

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
        # Only now: a substitute may be behind the tool that names it.
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
        """All tools, those that only stand in for others among them."""
        return tuple(self._tools.values())

    def offered(self, name: str) -> Tool | None:
        """Returns the tool that the model means by `name`; None if it may call none of that name."""
        tool = self._tools.get(name)
        if tool is None or not tool.offered:
            return None
        return tool

    def substitutes(self, tool: Tool) -> tuple[Tool, ...]:
        """Returns the tools that stand in for `tool`, first choice first."""
        return tuple([self._tools[name] for name in tool.substitutes])

    def wrapped(self, wrap: Callable[[Tool], Tool]) -> Registry:
        """Returns the same tools, each as `wrap` returns it; names and definitions must stay."""
        wrapped = Registry(map(wrap, self.tools))
        wrapped.is_wrapped = True
        return wrapped

    def definitions(self) -> StoredText:
        """Returns the `tools` of a Messages API request as JSON."""
        return self._definitions

    def _define(self) -> StoredText:
        # Sorted by name, so that the bytes are the same every time: servers cache them.
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
