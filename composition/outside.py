"""The outside of a query in production: models, tools and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from antiphon.composition.resources import Resources
from antiphon.coordinator import DeadlineTimer
from antiphon.dispatcher import ToolPerformer
from antiphon.engine import ReasoningEngine, SummaryEngine
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.performing import Command, Run
from antiphon.vocabulary.ports import Ports

PERFORMED: Mapping[type[Event], str] = {
    e.QueryReceived: "DeadlineTimer",
    e.SummaryRequested: "SummaryEngine",
    e.ReasoningRequested: "ReasoningEngine",
    e.ToolRequested: "ToolDispatcher",
    e.QueryResumed: "DeadlineTimer",
}
"""The events that request something of the outside, each with the part of the service that performs it."""

Perform = Callable[[Command], Run | None]


class LiveOutside:
    """Calls the models, runs the tools and waits for the deadline; satisfies `Outside`."""

    def __init__(self, performers: Mapping[type[Event], Perform]) -> None:
        self._performers = performers

    def perform(self, command: Command, /) -> Run | None:
        """Begins to perform a request."""
        return self._performers[type(command.request.event)](command)


def live_outside(resources: Resources, ports: Ports, /) -> LiveOutside:
    """Builds the outside of one query."""
    return LiveOutside(performers(resources, ports))


def performers(resources: Resources, ports: Ports) -> dict[type[Event], Perform]:
    """Returns the function that performs each kind of request in this process."""
    timer = DeadlineTimer(ports.publish, ports.spawn, resources.clock)
    summaries = SummaryEngine(
        ports.publish,
        ports.spawn,
        resources.clock,
        models=resources.models,
        styles=resources.styles,
        chance=resources.chance,
        table=resources.model_table,
        stored=ports.stored,
    )
    reasoning = ReasoningEngine(
        ports.publish,
        ports.emit_live,
        ports.spawn,
        resources.clock,
        models=resources.models,
        tools=resources.tool_definitions,
        styles=resources.styles,
        chance=resources.chance,
        followed=ports.followed,
        silence_s=resources.silence_s,
        speeds=resources.model_speeds,
        tools_are_quick=resources.tools_are_quick,
        table=resources.model_table,
        stored=ports.stored,
    )
    tools = ToolPerformer(
        ports.publish,
        ports.spawn,
        resources.clock,
        resources.tools,
        resources.tool_circuits,
        resources.tool_times,
    )
    return {
        e.QueryReceived: timer.perform,
        e.SummaryRequested: summaries.perform,
        e.ReasoningRequested: reasoning.perform,
        e.ToolRequested: tools.perform,
        e.QueryResumed: timer.perform,
    }
