"""A user's own tools, found by the names in a setting."""

from __future__ import annotations

import importlib
import inspect

from antiphon.dispatcher.bounds import line
from antiphon.dispatcher.definition import tool_from_function
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import ConfigurationError

SHOWN = 300
"""Characters of what a module raised."""


def load_tools(names: str) -> tuple[Tool, ...]:
    """The tools that `names` names: `package.module:name, …`, each a function, a `Tool`, or a list of these.

    Raises:
        ConfigurationError: A module or name is not there, or is not a tool.
        ToolDefinitionError: A function cannot be made into a tool.
    """
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return tuple(tool for name in wanted for tool in _tools(name, _find(name)))


def _find(path: str) -> object:
    module_name, colon, name = path.partition(":")
    if not (colon and module_name and name.isidentifier()):
        raise ConfigurationError(f"Tools are named as package.module:name, found {path!r}.")
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        hint = "it must be installed, or its folder be on PYTHONPATH" if isinstance(error, ImportError) else "mend it"
        raise ConfigurationError(
            f"Tool {path}: importing {module_name} failed ({line(f'{type(error).__name__}: {error}', SHOWN)}); {hint}."
        ) from error
    if not hasattr(module, name):
        raise ConfigurationError(f"Tool {path}: {module_name} has no {name}.")
    found: object = getattr(module, name)
    return found


def _tools(path: str, found: object) -> list[Tool]:
    if isinstance(found, Tool):
        return [found]
    if isinstance(found, (list, tuple)):
        return [tool for each in found for tool in _tools(path, each)]
    if inspect.isroutine(found):
        return [tool_from_function(found)]
    raise ConfigurationError(
        f"Tool {path} is {type(found).__name__}; wanted an async function, a Tool, or a list of these."
    )
