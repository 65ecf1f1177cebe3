"""Runs the tool calls that a query asks for, all at once, and tells what came of each."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.dispatcher.circuits import ToolCircuits
from antiphon.dispatcher.idempotency import key_of, may_be_repeated
from antiphon.dispatcher.registry import Registry
from antiphon.dispatcher.run import Outcome, ToolRun
from antiphon.dispatcher.settlement import Settlement
from antiphon.vocabulary.events import (
    CallsAbandoned,
    Event,
    Recorded,
    ToolCallsConfirmed,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolStarted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Clock, Publish, Spawn


class ToolDispatcher:
    """The tool calls of one session: each its own task with its own time limit, and exactly one outcome."""

    def __init__(
        self,
        publish: Publish,
        spawn: Spawn,
        clock: Clock,
        tools: Registry,
        circuits: ToolCircuits | None = None,
    ) -> None:
        self._publish = publish
        self._spawn = spawn
        self._clock = clock
        self._tools = tools
        self._circuits = circuits or ToolCircuits()
        self._running: dict[str, ToolRun] = {}
        self._keys: dict[str, str] = {}
        self._settlement = Settlement()

    def on_tool_requested(self, said: Recorded[ToolRequested]) -> None:
        """Starts the call, or says why it cannot be."""
        call_id = said.event.call.id
        if call_id in self._running or self._settlement.has_ended(call_id):
            return  # Ids are the model's: where it repeats one, the first call's outcome stands for both.
        key = self._keys.get(call_id) or key_of(said.query_id, call_id)
        run = ToolRun(said.event, self._publish, self._spawn, self._clock, self._tools, self._circuits, self._end, key)
        self._running[call_id] = run
        run.begin()

    def recall(self, said: Recorded[Event]) -> None:
        """Takes in what happened before the query was interrupted.

        A call with an outcome is not run again; one that had begun keeps its key, also in a fork, whose id is another.
        """
        if isinstance(said.event, ToolStarted) and said.event.idempotency_key:
            self._keys[said.event.tool_call_id] = said.event.idempotency_key
        if isinstance(said.event, ToolSucceeded | ToolFailed):
            self._settlement.end(said.event.tool_call_id, succeeded=isinstance(said.event, ToolSucceeded))

    def ask_again(self, said: Recorded[ToolRequested]) -> None:
        """Runs a call that was under way when the query was interrupted.

        Not one that may have changed something and has no key by which the second time is known for what it is.
        """
        tool = self._tools.offered(said.event.call.name)
        if tool is None or may_be_repeated((tool, *self._tools.substitutes(tool))):
            self.on_tool_requested(said)
            return
        self._end(
            ToolFailed(
                tool_call_id=said.event.call.id,
                name=tool.name,
                failure="interrupted",
                detail=f"{tool.name} was under way when the service stopped; it, or what stands in for it, changes "
                "something outside, so it may have done its work and was not run again.",
            )
        )

    def on_tool_calls_confirmed(self, said: Recorded[ToolCallsConfirmed]) -> None:
        """Notes which calls make up the round; they may have ended already."""
        self._publish_all(self._settlement.confirm(said.event.round, said.event.tool_call_ids))

    def on_calls_abandoned(self, said: Recorded[CallsAbandoned]) -> None:
        """Stops those of the calls that are tools and still run."""
        for call_id in said.event.call_ids:
            if call_id in self._running:
                self._running[call_id].abandon(said.event.why)

    def _end(self, outcome: Outcome) -> None:
        self._running.pop(outcome.tool_call_id, None)
        self._publish(outcome)
        succeeded = isinstance(outcome, ToolSucceeded)
        self._publish_all(self._settlement.end(outcome.tool_call_id, succeeded=succeeded))

    def _publish_all(self, settled: Iterable[ToolsSettled]) -> None:
        for event in settled:
            self._publish(event)
