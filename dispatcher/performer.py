"""Runs the tool calls that a query requests, side by side, and publishes the outcome of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from antiphon.dispatcher.attempts import ToolCircuits
from antiphon.dispatcher.run import Outcome, ToolRun
from antiphon.dispatcher.tool import CallContext, Registry
from antiphon.dispatcher.tool_times import ToolTimes
from antiphon.vocabulary.events import (
    Event,
    Recorded,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolStarted,
    ToolSucceeded,
)
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import Clock, Publish, Spawn
from antiphon.vocabulary.values import Passage

# 128 bits: enough that no two keys collide, short enough for a database column.
KEY_CHARS = 32


class ToolPerformer:
    """Runs the tool calls of one query, each in its own task with its own time limit and exactly one outcome.

    Args:
        circuits: The circuits of the tools, shared by all queries.
        times: Collects how long each call took; shared by all queries.
    """

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
        self._begun: set[str] = set()

    def perform(self, command: Command, /) -> ToolRun | None:
        """Begins the call that a `ToolRequested` requests, or publishes why it cannot be made."""
        asked: ToolRequested = command.request.event
        call_id = asked.call.id
        # The model chooses ids: if it repeats one, the first call's outcome serves both.
        if call_id in self._begun or has_outcome(call_id, command.past):
            return None
        self._begun.add(call_id)
        if command.again and not self._may_be_repeated(asked):
            self._end(_interrupted(asked))
            return None
        run = ToolRun(
            asked,
            self._publish,
            self._spawn,
            self._clock,
            self._tools,
            self._circuits,
            self._end,
            CallContext(_key_of(command), passages_found(command.past)),
        )
        run.begin()
        return run

    def _may_be_repeated(self, asked: ToolRequested) -> bool:
        """Returns True if a call that was under way when the process stopped may be made again.

        Each tool that it may have run must either change nothing or recognise the repetition by its key.
        """
        tool = self._tools.offered(asked.call.name)
        if tool is None:
            return True
        run = (tool, *self._tools.substitutes(tool))
        return all(each.key_parameter or not each.has_effects for each in run)

    def _end(self, outcome: Outcome) -> None:
        self._times.note(outcome)
        self._publish(outcome)


def passages_found(past: Iterable[Recorded[Event]]) -> tuple[Passage, ...]:
    """Returns the passages that settled rounds have found, each once, in order of discovery.

    Calls of one round run at the same time. So that their results do not depend on which was faster, a call knows the
    rounds before its own but nothing from its own round. A call that its round does not confirm contributes nothing.
    """
    brought: dict[str, tuple[Passage, ...]] = {}
    found: dict[str, Passage] = {}
    for recorded in past:
        match recorded.event:
            case ToolSucceeded(tool_call_id=call_id, passages=passages):
                brought[call_id] = passages
            case ToolsSettled(succeeded=call_ids):
                for call_id in call_ids:
                    for passage in brought.pop(call_id, ()):
                        found.setdefault(passage.id, passage)
    return tuple(found.values())


def has_outcome(call_id: str, past: Iterable[Recorded[Event]]) -> bool:
    """Returns True if a tool call of this id has ended."""
    return any(
        isinstance(recorded.event, ToolSucceeded | ToolFailed)
        and recorded.event.tool_call_id == call_id
        for recorded in past
    )


def _key_of(command: Command) -> str:
    """Returns the call's key: unique to it, and the same in every process that continues the query.

    A repeated call keeps its key, even in a fork, whose query has another id.
    """
    call_id = command.request.event.call.id
    for recorded in command.past:
        match recorded.event:
            case ToolStarted(tool_call_id=started, idempotency_key=key):
                if started == call_id and key:
                    return key
    text = f"{command.request.query_id}\n{call_id}"
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_CHARS]


def _interrupted(asked: ToolRequested) -> ToolFailed:
    name = asked.call.name
    return ToolFailed(
        tool_call_id=asked.call.id,
        name=name,
        failure="interrupted",
        detail=f"{name} was under way when the service stopped; it, or what stands in for it, changes "
        "something outside, so it may have done its work and was not run again.",
    )
