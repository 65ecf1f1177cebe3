"""The promise that a query stands still only where something was taken from it."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.faults.passage import Fired
from antiphon.faults.running import Run
from antiphon.vocabulary.events import SessionStalled

_DOORS = ("publish.", "deliver.", "spawn.")
"""Where an event, or the work that it starts, can be lost."""
_KINDS = ("raise", "cancel")
"""What ends a handler or its work before it has said what it owes."""


def moves_by_itself(run: Run) -> Iterator[str]:
    """A stall is for queries that lost an event or the work that owed one; no other fault leads there."""
    stalls = [said.event for said in run.trace if isinstance(said.event, SessionStalled)]
    if stalls and not any(map(_takes, run.meeting.fired)):
        yield f"it stood still, waiting for {', '.join(stalls[0].waiting_for)}"


def _takes(fired: Fired) -> bool:
    return fired.kind in _KINDS or fired.point.startswith(_DOORS)
