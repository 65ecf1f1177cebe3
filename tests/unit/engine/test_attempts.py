"""The attempts of a call, each of which is over before anything else happens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from antiphon.engine import ReasoningEngine
from antiphon.vocabulary.events import Event, ReasoningFailed
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request
from tests.fakes import FixedClock, command
from tests.fakes_messages_api import TOOLS, EngineStage, asked, delta, recorded, started


class WatchedModel:
    """A model whose reply cannot be used from its second event on, and goes on."""

    name = None

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self._seen.append("opened")
        try:
            yield started()
            yield delta(7, "text_delta", text="of no block")
            await asyncio.Event().wait()
        finally:
            self._seen.append("closed")


async def test_a_stream_that_is_left_in_the_middle_is_closed_before_the_call_fails() -> (
    None
):
    seen: list[str] = []

    def publish(event: Event) -> None:
        if isinstance(event, ReasoningFailed):
            seen.append(event.failure)

    stage = EngineStage()
    engine = ReasoningEngine(
        publish=publish,
        emit_live=stage.told.append,
        spawn=stage._spawn,
        clock=FixedClock(),
        models={"primary": WatchedModel(seen)},
        tools=TOOLS,
    )
    engine.perform(command(recorded(asked())))
    await stage.finish()

    assert seen == ["opened", "closed", "malformed"]
