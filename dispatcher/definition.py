"""Makes tools of plain or async functions, and loads the user's own tools that a setting names.

A function that cannot be offered to the model is refused with an error that says what to change.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, get_type_hints

from pydantic import PydanticUserError, TypeAdapter

from antiphon.dispatcher.parameters import parameters_of
from antiphon.dispatcher.threads import run_in_threads
from antiphon.dispatcher.tool import Adapt, Tool, origin
from antiphon.vocabulary.errors import ConfigurationError, ToolDefinitionError
from antiphon.vocabulary.imports import import_named, split_names
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Passage

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""The Messages API's rule (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use)."""
_SECTION = re.compile(
    r"^(Args|Arguments|Returns|Raises|Yields|Examples?|Notes?):[ \t]*$", re.MULTILINE
)
"""The title of a section in Google's style
(https://google.github.io/styleguide/pyguide.html#383-functions-and-methods). The description ends at the first one."""
# Matches between two arguments: an argument's further lines are indented, its first one is not.
_ARGUMENT = re.compile(r"^(?=\S)", re.MULTILINE)


class _Docstring(NamedTuple):
    """The part of a docstring that the model reads: the function's description, and each argument's on one line."""

    description: str
    arguments: Mapping[str, str]


class _Handed(NamedTuple):
    """Something that the dispatcher passes to a tool: in words, its type, and how to write the type."""

    what: str
    type: object
    written: str


_KEY = _Handed("its idempotency key", str, "str")
_KNOWN = _Handed("the passages found so far", Sequence[Passage], "Sequence[Passage]")


def tool_from_function(
    fn: Callable[..., object],
    *,
    name: str | None = None,
    timeout_s: float | None = None,
    retry_safe: bool = False,
    substitutes: tuple[str, ...] = (),
    has_effects: bool = False,
    key_parameter: str | None = None,
    known_parameter: str | None = None,
    adapt: Adapt | None = None,
    offered: bool = True,
    strict: bool = False,
    examples: Sequence[Json] = (),
) -> Tool:
    """Makes a tool of a function with typed parameters and a docstring; a plain function runs in a thread.

    Args:
        name: The model's name for it; None: the function's name. For the rest see `Tool`.

    Raises:
        ToolDefinitionError: The function cannot be offered; the message says what to change.
    """
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise ToolDefinitionError(
            f"Tool {origin(fn)} yields its results one by one; return them all, in a list."
        )
    docstring = _read_docstring(inspect.getdoc(fn) or "")
    if not docstring.description:
        raise ToolDefinitionError(
            f"Tool {origin(fn)} has no docstring; say in one what it does and when to use it: the model reads it."
        )
    signature = _signature(fn)
    hints = _hints(fn)
    # The model does not see the parameters that the dispatcher fills.
    _take_out(fn, signature, hints, key_parameter, _KEY)
    _take_out(fn, signature, hints, known_parameter, _KNOWN)
    types = _types(fn, signature, hints)
    if timeout_s is not None and not timeout_s > 0:
        raise ToolDefinitionError(
            f"Tool {origin(fn)} has timeout_s={timeout_s}; give it more than 0 seconds, or None."
        )
    return Tool(
        name=_name(fn, name),
        description=docstring.description,
        parameters=parameters_of(signature, types, docstring.arguments),
        run=fn if inspect.iscoroutinefunction(fn) else run_in_threads(fn),
        timeout_s=timeout_s,
        retry_safe=retry_safe,
        substitutes=tuple(substitutes),
        has_effects=has_effects,
        key_parameter=key_parameter,
        known_parameter=known_parameter,
        adapt=adapt,
        offered=offered,
        strict=strict,
        examples=tuple(examples),
    )


def _read_docstring(text: str) -> _Docstring:
    arguments: dict[str, str] = {}
    for title in _SECTION.finditer(text):
        if title[1] in ("Args", "Arguments"):
            arguments |= _read_arguments(text[title.end() :])
    return _Docstring(_SECTION.split(text, 1)[0].strip(), arguments)


def _read_arguments(text: str) -> dict[str, str]:
    """Reads the arguments of a section (`name (type): words`) from the indented lines at the start of the text."""
    section = takewhile(lambda line: not line[:1].strip(), text.split("\n"))
    described: dict[str, str] = {}
    for argument in _ARGUMENT.split(textwrap.dedent("\n".join(section))):
        spec, colon, words = argument.partition(":")
        if colon:
            described[spec.partition("(")[0].strip()] = " ".join(words.split())
    return described


def _name(fn: Callable[..., object], name: str | None) -> str:
    if name is None:
        # A `functools.partial` and some other callables have no name.
        name = str(getattr(fn, "__name__", ""))
    if not _NAME.fullmatch(name):
        raise ToolDefinitionError(
            f"Tool {origin(fn)} would be called {name!r}; pass a name of 1 to 64 letters, digits, _ and -."
        )
    return name


def _signature(fn: Callable[..., object]) -> dict[str, inspect.Parameter]:
    parameters = dict(inspect.signature(fn).parameters)
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    for name, parameter in parameters.items():
        if parameter.kind not in by_name:
            raise ToolDefinitionError(
                f"Tool {origin(fn)} takes {parameter}: write out each parameter ({name}) by name and type; "
                "*args, **kwargs and positional-only ones cannot be described to the model."
            )
    return parameters


def _hints(fn: Callable[..., object]) -> dict[str, object]:
    try:
        return get_type_hints(fn, include_extras=True)
    except (NameError, TypeError) as error:
        raise ToolDefinitionError(
            f"Tool {origin(fn)} has a type that cannot be read ({error}); "
            "write a type, and import it at the top of its module."
        ) from error


def _take_out(
    fn: Callable[..., object],
    signature: dict[str, inspect.Parameter],
    hints: Mapping[str, object],
    name: str | None,
    handed: _Handed,
) -> None:
    """Removes a parameter that the dispatcher fills from the signature, because the model sees the signature."""
    if name is None:
        return
    if name not in signature or hints.get(name) != handed.type:
        raise ToolDefinitionError(
            f"Tool {origin(fn)} is to be handed {handed.what} as {name!r}; "
            f"give it a parameter `{name}: {handed.written}`."
        )
    del signature[name]


def _types(
    fn: Callable[..., object],
    signature: Mapping[str, inspect.Parameter],
    hints: Mapping[str, object],
) -> dict[str, object]:
    types: dict[str, object] = {}
    for name in signature:
        if name not in hints:
            raise ToolDefinitionError(
                f"Tool {origin(fn)} does not say the type of {name}; write `{name}: str` or such."
            )
        _check_type(fn, name, hints[name])
        types[name] = hints[name]
    return types


def _check_type(fn: Callable[..., object], name: str, hint: Any) -> None:
    try:
        TypeAdapter(hint).json_schema()
    except PydanticUserError as error:
        raise ToolDefinitionError(
            f"Tool {origin(fn)}: {name} is of a type that JSON cannot say ({hint}); "
            "use str, int, float, bool, Literal, an enum, a list of these, or one of them or None."
        ) from error


def load_tools(names: str) -> tuple[Tool, ...]:
    """Loads a user's own tools: `package.module:name, …`, each a function, a `Tool`, or a list of these.

    Raises:
        ConfigurationError: A module or name is not there, or is not a tool.
        ToolDefinitionError: A function cannot be made into a tool.
    """
    tools: list[Tool] = []
    for name in split_names(names):
        tools += _tools(
            name, import_named(name, thing="Tool", form="package.module:name")
        )
    return tuple(tools)


def _tools(path: str, found: object) -> Iterator[Tool]:
    if isinstance(found, Tool):
        yield found
    elif isinstance(found, (list, tuple)):
        for each in found:
            yield from _tools(path, each)
    elif inspect.isroutine(found):
        yield tool_from_function(found)
    else:
        raise ConfigurationError(
            f"Tool {path} is {type(found).__name__}; wanted a function, a Tool, or a list of these."
        )
