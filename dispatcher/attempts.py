"""One attempt at a tool call: which tool, with what arguments, and what an exception in it is told as."""

from __future__ import annotations

import asyncio
import json
import traceback
from collections.abc import Iterator

from antiphon.dispatcher.bounds import line
from antiphon.dispatcher.output import to_output
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import BadInputError, ServiceError
from antiphon.vocabulary.ports import Json, ToolOutput

MAX_DETAIL = 600
"""Characters of what is said of an exception."""


def attempts(tool: Tool, substitutes: tuple[Tool, ...]) -> Iterator[Tool]:
    """What is tried in turn: the tool, its substitutes, and each of them that is safe to retry once more at once."""
    for candidate in (tool, *substitutes):
        yield candidate
        if candidate.retry_safe:
            yield candidate


def stand_in_arguments(failed: Tool, substitute: Tool, arguments: str) -> str | None:
    """The failed call's arguments as JSON made to fit `substitute`; None where they cannot be.

    Args:
        arguments: The failed call's JSON object.
    """
    asked: Json = json.loads(arguments.strip() or "{}")
    known = substitute.parameters.names
    adapted = failed.adapt(substitute.name, asked) if failed.adapt else {k: v for k, v in asked.items() if k in known}
    text = json.dumps(adapted, ensure_ascii=False)
    try:
        substitute.parameters.read(text)
    except BadInputError:
        return None
    return text


async def run_tool(tool: Tool, arguments: str, key: str = "") -> ToolOutput:
    """What the tool returns, as bounded words and passages; whatever it raises is let through.

    Args:
        key: The call's idempotency key, for a tool that takes one.
    """
    keyed = {} if tool.key_parameter is None else {tool.key_parameter: key}
    try:
        returned = await tool.run(**tool.parameters.read(arguments), **keyed)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Nobody cancelled the call: something inside the tool was cancelled, which is only another way to fail.
        raise ServiceError("work that the tool had started was cancelled") from error
    return to_output(tool.name, returned)


def describe(tool: Tool, error: Exception) -> str:
    """Type and message of what `tool` raised, without its traceback, bounded."""
    # format_exception_only also says something of an exception whose own __str__ raises.
    said = "".join(traceback.format_exception_only(error)).removeprefix(f"{type(error).__module__}.")
    return f"{tool.name} failed: {line(said, MAX_DETAIL)}"
