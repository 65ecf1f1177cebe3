"""An outside in which a person plays the model: each request is written to a folder, and its reply awaited there.

Tools run as usual, and so does the fallback reasoner, for a call that nobody answers in time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from antiphon import Command, Outside, Ports, Resources, Run, events, live_outside
from antiphon.vocabulary.values import StoredText, ToolCall, Usage

LOOK_S = 0.2


def rehearsal(folder: Path) -> Callable[[Resources, Ports], Outside]:
    """Returns what `Antiphon.open` takes as its `outside`."""

    def build(resources: Resources, ports: Ports) -> Outside:
        return Rehearsal(folder, resources, ports)

    return build


class Rehearsal:
    """Performs the reasoning requests of one query by hand, and all others live."""

    def __init__(self, folder: Path, resources: Resources, ports: Ports) -> None:
        self._folder = folder
        self._resources = resources
        self._ports = ports
        self._live = live_outside(resources, ports)

    def perform(self, command: Command, /) -> Run | None:
        """Begins to perform a request."""
        asked = command.request.event
        if not isinstance(asked, events.ReasoningRequested):
            return self._live.perform(command)
        if asked.reasoner == "fallback":
            return self._live.perform(command)
        # Ids of calls are the same in each query.
        folder = self._folder / command.request.query_id
        return RehearsedCall(asked, folder, self._resources, self._ports)


class RehearsedCall:
    """One call; its outcome is published once, whatever ends it."""

    def __init__(
        self,
        asked: events.ReasoningRequested,
        folder: Path,
        resources: Resources,
        ports: Ports,
    ) -> None:
        self._asked = asked
        self._folder = folder
        self._clock = resources.clock
        self._publish = ports.publish
        self._ended = False
        self._cancel = ports.spawn(self._work())

    def abandon(self, why: str, /) -> None:
        """Ends it, if it has no outcome."""
        self._cancel()
        self._fail("abandoned", why)

    async def _work(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        messages = [
            {"role": each.role, "content": [json.loads(b.text) for b in each.content]}
            for each in self._asked.messages
        ]
        request = self._folder / f"{self._asked.call_id}.request.json"
        request.write_text(
            json.dumps({"final": self._asked.final, "messages": messages})
        )
        reply = self._folder / f"{self._asked.call_id}.reply.json"
        ends_at = self._clock.now() + self._asked.timeout_s
        while not reply.exists():
            if self._clock.now() > ends_at:
                self._fail("timeout", "nobody replied in time")
                return
            await self._clock.sleep(LOOK_S)
        self._end(_completed(self._asked, json.loads(reply.read_text())))

    def _fail(self, failure: events.FailureKind, detail: str) -> None:
        self._end(
            events.ReasoningFailed(
                call_id=self._asked.call_id, failure=failure, detail=detail
            )
        )

    def _end(self, outcome: events.Event) -> None:
        if not self._ended:
            self._ended = True
            self._publish(outcome)


def _completed(
    asked: events.ReasoningRequested, reply: dict[str, object]
) -> events.ReasoningCompleted:
    text = str(reply.get("text", ""))
    calls: Any = reply.get("tool_calls", [])
    blocks: list[object] = [{"type": "text", "text": text}] if text else []
    tool_calls: list[ToolCall] = []
    for number, call in enumerate(calls):
        call_id = f"{asked.call_id}-{number}"
        name, arguments = call["name"], call["arguments"]
        blocks.append(
            {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        )
        tool_calls.append(
            ToolCall(id=call_id, name=name, arguments=json.dumps(arguments))
        )
    return events.ReasoningCompleted(
        call_id=asked.call_id,
        round=asked.round,
        content=tuple([StoredText(json.dumps(block)) for block in blocks]),
        text=StoredText(text),
        tool_calls=tuple(tool_calls),
        citations=(),
        stop_reason="tool_use" if tool_calls else "end_turn",
        usage=Usage(),
        model="a person",
        message_id="",
    )
