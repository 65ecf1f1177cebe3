"""One attempt at a tool call: the tool that may run, its arguments, and the description of an exception in it."""

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
    """A circuit for each tool, shared by all queries of a process: a tool that keeps failing gets a rest.

    Args:
        failures: Failed runs of a tool in a row that open its circuit.
        rest_s: Seconds of that rest.
        timeout_s: Seconds that the service itself gives a tool: missing the shorter limit of a query in a hurry is not
            the tool's failure.
    """

    def __init__(
        self, failures: int = 5, rest_s: float = 30.0, timeout_s: float = 0.0
    ) -> None:
        self._new = Circuit(most_failures=failures, rest_s=rest_s)
        self._timeout_s = timeout_s
        self._circuits: dict[str, Circuit] = {}

    def keeps_out(self, tool: str, now: float) -> bool:
        """Returns True if the tool must be skipped now; if False, the run may be the probe of an open circuit."""
        circuit = self._circuits.get(tool, self._new)
        if not circuit.allows(now):
            return True
        # Of an open circuit this run is the probe, and no other may follow before its outcome.
        self._circuits[tool] = circuit.entered(now)
        return False

    def is_open(self, tool: str) -> bool:
        """Returns True if the circuit lets only probes through to the tool."""
        return self._circuits.get(tool, self._new).is_open

    def succeeded(self, tool: str) -> None:
        """Notes that the tool ran: its circuit closes."""
        self._circuits.pop(tool, None)

    def failed(self, tool: str, now: float) -> None:
        """Notes that the tool raised."""
        self._circuits[tool] = self._circuits.get(tool, self._new).failed(now)

    def timed_out(self, tool: Tool, given_s: float, now: float) -> None:
        """Counts a call of `given_s` seconds that timed out, if that was as long as the tool is meant to have."""
        enough_s = self._timeout_s
        if tool.timeout_s is not None:
            enough_s = min(enough_s, tool.timeout_s)
        if given_s >= enough_s:
            self.failed(tool.name, now)


def another_tool_circuits(circuits: ToolCircuits) -> ToolCircuits:
    """Returns closed circuits with the same figures, for callers whose failures say nothing about other callers'."""
    new = circuits._new
    return ToolCircuits(new.most_failures, new.rest_s, circuits._timeout_s)


def candidates(tool: Tool, substitutes: tuple[Tool, ...]) -> list[Tool]:
    """Lists the tools to try in turn: the requested one, then its substitutes; each twice if it is safe to retry."""
    # The retry comes before the substitutes: most failures pass, and the requested tool gives the best answer.
    order: list[Tool] = []
    for candidate in (tool, *substitutes):
        order.append(candidate)
        if candidate.retry_safe:
            order.append(candidate)
    return order


def substitute_arguments(failed: Tool, substitute: Tool, arguments: str) -> str | None:
    """Adapts the failed call's arguments to `substitute`, as JSON; returns None if they cannot be made to fit.

    Args:
        arguments: The failed call's arguments, which fit the failed tool.
    """
    # As plain JSON: the failed tool's own checks turned dates and the like into types that only it understands.
    given = failed.parameters.plain(arguments)
    if failed.adapt:
        adapted = failed.adapt(substitute.name, given)
    else:
        known = substitute.parameters.names
        adapted = {name: value for name, value in given.items() if name in known}
    # The trace records this text, so it keeps the model's letters instead of escapes.
    text = json.dumps(adapted, ensure_ascii=False)
    try:
        substitute.parameters.read(text)
    except BadInputError:
        return None
    return text


async def run_tool(tool: Tool, arguments: str, context: CallContext) -> ToolOutput:
    """Runs the tool and returns its words and passages within bounds; lets its exceptions through.

    Args:
        context: The tool gets those parts of it that it has parameters for.
    """
    given = tool.parameters.read(arguments)
    if tool.key_parameter is not None:
        given[tool.key_parameter] = context.key
    if tool.known_parameter is not None:
        given[tool.known_parameter] = context.known
    return to_output(tool.name, await tool.run(**given))


def describe(tool: Tool, error: Exception) -> str:
    """Returns the type and message of what `tool` raised, without the traceback and within a bound."""
    return f"{tool.name} failed: {line(words_of(error), MAX_DETAIL)}"
