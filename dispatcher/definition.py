"""From a plain async function to a tool; whatever cannot be offered to the model is refused with what to change."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_type_hints

from pydantic import PydanticUserError, TypeAdapter

from antiphon.dispatcher.docstrings import argument_descriptions, description
from antiphon.dispatcher.parameters import parameters_of
from antiphon.dispatcher.tool import Adapt, Tool, origin
from antiphon.vocabulary.errors import ToolDefinitionError

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The Messages API's rule (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use)."""


def tool_from_function(
    fn: Callable[..., Awaitable[object]],
    *,
    name: str | None = None,
    timeout_s: float | None = None,
    retry_safe: bool = False,
    substitutes: tuple[str, ...] = (),
    has_effects: bool = False,
    key_parameter: str | None = None,
    adapt: Adapt | None = None,
    offered: bool = True,
) -> Tool:
    """A tool made of an async function with typed parameters and a docstring.

    Args:
        name: What the model calls it; None: the function's name. For the rest see `Tool`.

    Raises:
        ToolDefinitionError: The function cannot be offered; the message says what to change.
    """
    docstring = _docstring(fn)
    signature = _signature(fn)
    types = _types(fn, signature)
    _check_key(fn, key_parameter, types)
    told = {name: parameter for name, parameter in signature.items() if name != key_parameter}
    return Tool(
        name=_name(fn, name),
        description=description(docstring),
        parameters=parameters_of(told, types, argument_descriptions(docstring)),
        run=fn,
        timeout_s=_timeout(fn, timeout_s),
        retry_safe=retry_safe,
        substitutes=tuple(substitutes),
        has_effects=has_effects,
        key_parameter=key_parameter,
        adapt=adapt,
        offered=offered,
    )


def _docstring(fn: Callable[..., object]) -> str:
    if not inspect.iscoroutinefunction(fn):
        raise ToolDefinitionError(f"Tool {origin(fn)} is not an async function; define it with `async def`.")
    docstring = inspect.getdoc(fn) or ""
    if not description(docstring):
        raise ToolDefinitionError(
            f"Tool {origin(fn)} has no docstring; say in one what it does and when to use it: the model reads it."
        )
    return docstring


def _name(fn: Callable[..., object], name: str | None) -> str:
    chosen = getattr(fn, "__name__", "") if name is None else name
    if not _NAME.fullmatch(chosen):
        raise ToolDefinitionError(
            f"Tool {origin(fn)} would be called {chosen!r}; pass a name of 1 to 64 letters, digits, _ and -."
        )
    return chosen


def _timeout(fn: Callable[..., object], timeout_s: float | None) -> float | None:
    if timeout_s is not None and not timeout_s > 0:
        raise ToolDefinitionError(f"Tool {origin(fn)} has timeout_s={timeout_s}; give it more than 0 seconds, or None.")
    return timeout_s


def _check_key(fn: Callable[..., object], name: str | None, types: Mapping[str, object]) -> None:
    if name is not None and types.get(name) is not str:
        raise ToolDefinitionError(
            f"Tool {origin(fn)} is to be handed its idempotency key as {name!r}; give it a parameter `{name}: str`."
        )


def _signature(fn: Callable[..., object]) -> Mapping[str, inspect.Parameter]:
    parameters = inspect.signature(fn).parameters
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name, parameter in parameters.items():
        if parameter.kind not in by_name:
            raise ToolDefinitionError(
                f"Tool {origin(fn)} takes {parameter}: write out each parameter ({name}) by name and type; "
                "*args, **kwargs and positional-only ones cannot be described to the model."
            )
    return parameters


def _types(fn: Callable[..., object], signature: Mapping[str, inspect.Parameter]) -> dict[str, object]:
    try:
        hints = get_type_hints(fn, include_extras=True)
    except (NameError, TypeError) as error:
        raise ToolDefinitionError(
            f"Tool {origin(fn)} has a type that cannot be read ({error}); "
            "write a type, and import it at the top of its module."
        ) from error
    for name in signature:
        if name not in hints:
            raise ToolDefinitionError(
                f"Tool {origin(fn)} does not say the type of {name}; write `{name}: str` or such."
            )
        _check_type(fn, name, hints[name])
    return {name: hints[name] for name in signature}


def _check_type(fn: Callable[..., object], name: str, hint: Any) -> None:
    try:
        TypeAdapter(hint).json_schema()
    except PydanticUserError as error:
        raise ToolDefinitionError(
            f"Tool {origin(fn)}: {name} is of a type that JSON cannot say ({hint}); "
            "use str, int, float, bool, Literal, an enum, a list of these, or one of them or None."
        ) from error
