"""Each tool of the user's by itself: called in a query that nothing breaks, it must do what tools promise."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.faults.cells import Cell
from antiphon.faults.running import Run
from antiphon.faults.world import World
from antiphon.vocabulary.events import ToolFailed, ToolRequested, ToolSucceeded

CUT = "\n[cut: "
"""How the dispatcher marks what was too large (dispatcher/output.py)."""
_PREFIX = "tool."


def own_cells(world: World) -> Iterator[Cell]:
    """A cell for each of the user's tools, in which nothing is broken."""
    return (Cell(point=f"{_PREFIX}{name}", kind="none", when="any", scenario="plain") for name in world.own)


def unsound(run: Run, point: str) -> Iterator[str]:
    """What a tool did wrong though nothing was broken; nothing for points that are no tools."""
    events = [said.event for said in run.trace]
    asked = {event.call.id: event.call for event in events if isinstance(event, ToolRequested)}
    for event in events:
        if not isinstance(event, ToolFailed | ToolSucceeded) or event.tool_call_id not in asked:
            continue
        call = asked[event.tool_call_id]
        if point != f"{_PREFIX}{call.name}":
            continue
        if isinstance(event, ToolFailed) and event.failure in ("error", "timeout"):
            yield f"the tool by itself: {event.detail} (called with {call.arguments})"
        if isinstance(event, ToolSucceeded) and CUT in event.output.text:
            yield f"the tool by itself: it returned too much [{event.output.text.rpartition(CUT)[2]}"
