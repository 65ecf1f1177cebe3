"""One attempt at a tool call: which tool may run, with what arguments, and how an exception in it is described."""

from __future__ import annotations

import json

from antiphon.dispatcher.output import line, to_output
from antiphon.dispatcher.tool import CallContext, Tool
from antiphon.vocabulary.circuit import Circuit
from antiphon.vocabulary.containment import words_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import ToolOutput

MAX_DETAIL = 600
"""Characters of the description of an exception."""


class ToolCircuits:
    """A circuit for each tool, across queries: one that keeps failing is left alone for a while. One a process.

    Args:
        failures: Failed runs of a tool in a row that open its circuit.
        rest_s: Seconds for which it is then left alone.
        timeout_s: Seconds that the service itself gives a tool: taking longer than the less that a query in a hurry
            gives it is no failure of the tool.
    """

    def __init__(
        self, failures: int = 5, rest_s: float = 30.0, timeout_s: float = 0.0
    ) -> None:
        self._new = Circuit(most_failures=failures, rest_s=rest_s)
        self._timeout_s = timeout_s
        self._circuits: dict[str, Circuit] = {}

    def keeps_out(self, tool: str, now: float) -> bool:
        """Returns True if the tool is to be passed over now; else the run may be the probe of an open circuit."""
        circuit = self._circuits.get(tool, self._new)
        if not circuit.allows(now):
            return True
        self._circuits[tool] = circuit.entered(now)
        return False

    def is_open(self, tool: str) -> bool:
        """Returns True if the tool is left alone, but for probes."""
        return self._circuits.get(tool, self._new).is_open

    def succeeded(self, tool: str) -> None:
        """Notes that the tool ran: its circuit closes."""
        self._circuits.pop(tool, None)

    def failed(self, tool: str, now: float) -> None:
        """Notes that the tool raised."""
        self._circuits[tool] = self._circuits.get(tool, self._new).failed(now)

    def timed_out(self, tool: Tool, given_s: float, now: float) -> None:
        """Notes that the tool took too long in a call that was given so many seconds, if that was time enough."""
        enough_s = self._timeout_s
        if tool.timeout_s is not None:
            enough_s = min(enough_s, tool.timeout_s)
        if given_s >= enough_s:
            self.failed(tool.name, now)


def another_tool_circuits(circuits: ToolCircuits) -> ToolCircuits:
    """Returns closed ones with the same figures, for callers whose failures say nothing of anybody else's."""
    new = circuits._new
    return ToolCircuits(new.most_failures, new.rest_s, circuits._timeout_s)


def candidates(tool: Tool, substitutes: tuple[Tool, ...]) -> list[Tool]:
    """Lists the tools to try in turn: the one asked for, then its substitutes; each twice that is safe to retry."""
    # The retry comes before the substitutes: most failures are of the moment, and the tool asked for knows best.
    order: list[Tool] = []
    for candidate in (tool, *substitutes):
        order.append(candidate)
        if candidate.retry_safe:
            order.append(candidate)
    return order


def substitute_arguments(failed: Tool, substitute: Tool, arguments: str) -> str | None:
    """Makes the failed call's arguments fit `substitute`, as JSON; None if they cannot be made to.

    Args:
        arguments: The failed call's, which fit the failed tool.
    """
    # As plain JSON: the failed tool's own checks turned dates and the like into what only it understands.
    given = failed.parameters.plain(arguments)
    if failed.adapt:
        adapted = failed.adapt(substitute.name, given)
    else:
        known = substitute.parameters.names
        adapted = {name: value for name, value in given.items() if name in known}
    # As it is recorded: the model's own letters, not their escapes.
    text = json.dumps(adapted, ensure_ascii=False)
    try:
        substitute.parameters.read(text)
    except BadInputError:
        return None
    return text


async def run_tool(tool: Tool, arguments: str, context: CallContext) -> ToolOutput:
    """Runs the tool, and returns bounded words and passages; whatever it raises is let through.

    Args:
        context: Of it the tool is handed what it has parameters for.
    """
    given = tool.parameters.read(arguments)
    if tool.key_parameter is not None:
        given[tool.key_parameter] = context.key
    if tool.known_parameter is not None:
        given[tool.known_parameter] = context.known
    return to_output(tool.name, await tool.run(**given))


def describe(tool: Tool, error: Exception) -> str:
    """Returns type and message of what `tool` raised, without its traceback, bounded."""
    return f"{tool.name} failed: {line(words_of(error), MAX_DETAIL)}"
