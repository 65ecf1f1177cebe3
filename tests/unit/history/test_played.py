"""The outside of a recorded fork, of which a call is abandoned that the recording answers later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.history.played import PlayedOutside
from antiphon.history.recorded_order import RecordedClock
from antiphon.history.recording import Recording
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.ports import Ports
from antiphon.vocabulary.values import ToolCall
from tests.fakes import FixedClock, command
from tests.fakes_messages_api import asked
from tests.story import NOON, placed, query_received, tool_succeeded

WHY = "the time for tools is used up"
CALL = ToolCall(id="t1", name="search", arguments="{}")
TRACE = placed(
    "q1",
    [
        query_received(),
        asked(call_id="c1"),
        e.ToolRequested(round=1, call=CALL, timeout_s=9.0),
        tool_succeeded("a"),
        e.ReasoningFailed(call_id="c1", failure="timeout", detail="it was late"),
    ],
)


async def test_an_abandoned_call_ends_with_the_reason_and_its_recorded_outcome_never_comes() -> (
    None
):
    published: list[Event] = []
    tasks: list[asyncio.Task[None]] = []

    def spawn(
        work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        tasks.append(asyncio.create_task(work))
        return tasks[-1].cancel

    ports = Ports(published.append, lambda _: None, spawn)
    clock = RecordedClock(FixedClock(), NOON)
    played = PlayedOutside(ports, Recording(TRACE), clock, after=3, shift_s=0.0)

    for request in TRACE[1:3]:
        run = played.perform(command(request))
        assert run is not None
        run.abandon(WHY)
        run.abandon("again")
    await asyncio.gather(*tasks)

    assert published == [
        e.ReasoningFailed(call_id="c1", failure="abandoned", detail=WHY),
        e.ToolFailed(
            tool_call_id="t1",
            name="search",
            failure="abandoned",
            detail=f"search was stopped: {WHY}",
        ),
    ]
