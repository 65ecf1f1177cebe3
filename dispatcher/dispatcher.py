"""Runs the tool calls that a query asks for, all at once, and publishes the outcome of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from antiphon.dispatcher.attempts import ToolCircuits
from antiphon.dispatcher.run import Outcome, ToolRun
from antiphon.dispatcher.settlement import Found, Settlement
from antiphon.dispatcher.tool import CallContext, Registry, Tool
from antiphon.dispatcher.tool_times import ToolTimes
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

# 128 bits: enough for keys that never meet, short enough for a database column.
KEY_CHARS = 32


class ToolDispatcher:
    """The tool calls of one session: each its own task with its own time limit, and exactly one outcome."""

    def __init__(
        self,
        publish: Publish,
        spawn: Spawn,
        clock: Clock,
        tools: Registry,
        circuits: ToolCircuits | None = None,
        times: ToolTimes | None = None,
    ) -> None:
        self._publish = publish
        self._spawn = spawn
        self._clock = clock
        self._tools = tools
        self._circuits = circuits or ToolCircuits()
        self._times = times or ToolTimes()
        self._running: dict[str, ToolRun] = {}
        self._keys: dict[str, str] = {}
        self._settlement = Settlement()
        self._found = Found()

    def on_tool_requested(self, recorded: Recorded[ToolRequested]) -> None:
        """Starts the call, or publishes why it cannot be."""
        call_id = recorded.event.call.id
        if call_id in self._running or self._settlement.has_ended(call_id):
            return  # Ids are the model's: where it repeats one, the first call's outcome stands for both.
        # A call that is repeated after an interruption keeps its key.
        key = self._keys.get(call_id) or _key_of(recorded.query_id, call_id)
        run = ToolRun(
            recorded.event,
            self._publish,
            self._spawn,
            self._clock,
            self._tools,
            self._circuits,
            self._end,
            CallContext(key, self._found.passages),
        )
        # Before it begins, for it may end at once.
        self._running[call_id] = run
        run.begin()

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in what happened before the query was interrupted.

        A call with an outcome is not repeated; one that had begun keeps its key, also in a fork, whose id is another.
        """
        event = recorded.event
        self._found.note(event)
        if isinstance(event, ToolStarted) and event.idempotency_key:
            self._keys[event.tool_call_id] = event.idempotency_key
        if isinstance(event, ToolSucceeded | ToolFailed):
            self._settlement.end(
                event.tool_call_id, succeeded=isinstance(event, ToolSucceeded)
            )

    def ask_again(self, recorded: Recorded[ToolRequested]) -> None:
        """Runs a call that was under way when the query was interrupted.

        Not one that may have changed something and has no key by which the second time is known for what it is.
        """
        tool = self._tools.offered(recorded.event.call.name)
        if tool is None or _may_be_repeated((tool, *self._tools.substitutes(tool))):
            self.on_tool_requested(recorded)
            return
        self._end(
            ToolFailed(
                tool_call_id=recorded.event.call.id,
                name=tool.name,
                failure="interrupted",
                detail=f"{tool.name} was under way when the service stopped; it, or what stands in for it, changes "
                "something outside, so it may have done its work and was not run again.",
            )
        )

    def on_tool_calls_confirmed(self, recorded: Recorded[ToolCallsConfirmed]) -> None:
        """Notes which calls make up the round; they may have ended already."""
        self._publish_all(
            self._settlement.confirm(recorded.event.round, recorded.event.tool_call_ids)
        )

    def on_calls_abandoned(self, recorded: Recorded[CallsAbandoned]) -> None:
        """Stops those of the calls that are tools and still run."""
        for call_id in recorded.event.call_ids:
            run = self._running.get(call_id)
            if run is not None:
                run.abandon(recorded.event.why)

    def _end(self, outcome: Outcome) -> None:
        # The outcome goes before the settlement that rests on it.
        self._running.pop(outcome.tool_call_id, None)
        self._times.note(outcome)
        self._found.note(outcome)
        self._publish(outcome)
        succeeded = isinstance(outcome, ToolSucceeded)
        self._publish_all(
            self._settlement.end(outcome.tool_call_id, succeeded=succeeded)
        )

    def _publish_all(self, settled: Iterable[ToolsSettled]) -> None:
        for event in settled:
            self._found.note(event)
            self._publish(event)


def _key_of(query_id: str, call_id: str) -> str:
    """Returns the call's key: the same in every process that goes on with the query, and no other call's."""
    return hashlib.sha256(f"{query_id}\n{call_id}".encode()).hexdigest()[:KEY_CHARS]


def _may_be_repeated(tools: Iterable[Tool]) -> bool:
    """Returns True if a call that was under way may be repeated.

    Each tool that it may have run must change nothing, or recognise the repetition by its key.
    """
    unsafe = [tool for tool in tools if tool.has_effects and tool.key_parameter is None]
    return not unsafe
