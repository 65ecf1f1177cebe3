"""Builds the acting components of a query that other processes may run instead."""

from __future__ import annotations

from collections.abc import Collection

from antiphon.composition.resources import Resources
from antiphon.dispatcher import ToolDispatcher
from antiphon.engine import ReasoningEngine, SummaryEngine
from antiphon.vocabulary.ports import Ports


def components_here(
    resources: Resources, ports: Ports, rooms: Collection[str] = ()
) -> list[object]:
    """Builds the components that act in this process.

    Args:
        rooms: Those that act in others.
    """
    components: list[object] = []
    if "engine" not in rooms:
        components += _engines(resources, ports)
    if "dispatcher" not in rooms:
        components.append(
            ToolDispatcher(
                ports.publish,
                ports.spawn,
                resources.clock,
                resources.tools,
                resources.tool_circuits,
                resources.tool_times,
            )
        )
    return components


def _engines(resources: Resources, ports: Ports) -> tuple[object, ...]:
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
    return reasoning, summaries
