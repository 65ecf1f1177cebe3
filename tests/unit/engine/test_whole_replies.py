"""A reply comes in one piece where nobody follows, no slow tool waits, and even the longest is sure to be in time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from antiphon.engine import ModelSpeeds, ReasoningEngine
from antiphon.engine.reply import events_of
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.events import Event, ReasoningCompleted, ReasoningStarted
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request
from tests.fakes import FixedClock, command
from tests.fakes_messages_api import TOOLS, asked, recorded

MESSAGE: Json = {
    "type": "message",
    "id": "msg_1",
    "model": "m",
    "content": [{"type": "text", "text": "Done."}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 10, "output_tokens": 100},
}


class PacedModel:
    """A model that takes so many seconds from the first event of a reply to its last."""

    name = None

    def __init__(self, clock: FixedClock, takes_s: float) -> None:
        self._clock = clock
        self._takes_s = takes_s
        self.fails = 0

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        if self.fails:
            self.fails -= 1
            raise ModelError("overloaded", "busy", retryable=True, retry_after_s=0.0)
        for event in events_of(MESSAGE):
            yield event
            if event["type"] == "message_start":
                self._clock.advance(self._takes_s)


class Stage:
    """An engine that makes a tool round's call, which shows the model's pace, and then a final one."""

    def __init__(
        self,
        takes_s: float,
        *,
        followed: bool = False,
        quick_tools: bool = False,
        speeds: ModelSpeeds | None = None,
    ) -> None:
        self.clock = FixedClock()
        self.model = PacedModel(self.clock, takes_s)
        self.published: list[Event] = []
        self._tasks: list[asyncio.Task[None]] = []
        self.engine = ReasoningEngine(
            self.published.append,
            lambda _: None,
            self._spawn,
            self.clock,
            {"primary": self.model},
            TOOLS,
            chance=lambda: 0.0,
            followed=lambda: followed,
            silence_s=30.0,
            speeds=speeds,
            tools_are_quick=lambda: quick_tools,
        )

    def _spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.append(task)
        return task.cancel

    async def call(self, call_id: str, **changes: Any) -> None:
        fields = {"model": "m", "max_tokens": 1_500, "timeout_s": 90.0} | changes
        request = asked(call_id=call_id, **fields)
        self.engine.perform(command(recorded(request)))
        for _ in range(50):
            await asyncio.sleep(0)
            self.clock.advance(0.0)

    def streamed(self) -> list[bool]:
        """Returns of each attempt whether a stream was asked for."""
        return [
            event.request.stream
            for event in self.published
            if isinstance(event, ReasoningStarted)
        ]


async def test_a_final_reply_that_nobody_follows_is_asked_for_in_one_piece() -> None:
    stage = Stage(takes_s=1.0)

    await stage.call("c1", final=False)
    await stage.call("c2", final=True)

    assert stage.streamed() == [True, False]
    assert isinstance(stage.published[-1], ReasoningCompleted)


async def test_a_reply_with_tools_and_one_that_is_followed_are_streamed() -> None:
    unfollowed = Stage(takes_s=1.0)
    followed = Stage(takes_s=1.0, followed=True)

    await unfollowed.call("c1", final=False)
    await unfollowed.call("c2", final=False)
    await followed.call("c1", final=False)
    await followed.call("c2", final=True)

    assert unfollowed.streamed() == [True, True]
    assert followed.streamed() == [True, True]


async def test_a_model_whose_longest_reply_may_outlast_the_silence_is_streamed() -> (
    None
):
    # 100 tokens in 2 s: 1,500 would take 30 s, as long as a server may be silent.
    stage = Stage(takes_s=2.0)

    await stage.call("c1", final=False)
    await stage.call("c2", final=True)

    assert stage.streamed() == [True, True]


async def test_of_a_model_that_was_not_heard_before_a_stream_is_asked_for() -> None:
    stage = Stage(takes_s=1.0)

    await stage.call("c1", final=False, model="other")
    await stage.call("c2", final=True)

    assert stage.streamed() == [True, True]


async def test_after_a_failure_the_next_attempt_is_streamed() -> None:
    stage = Stage(takes_s=1.0)

    await stage.call("c1", final=False)
    stage.model.fails = 1
    await stage.call("c2", final=True)

    assert stage.streamed() == [True, False, True]
    assert isinstance(stage.published[-1], ReasoningCompleted)


async def test_a_reply_with_tools_comes_in_one_piece_where_tools_are_quick() -> None:
    stage = Stage(takes_s=1.0, quick_tools=True)

    await stage.call("c1", final=False)
    await stage.call("c2", final=False)

    assert stage.streamed() == [True, False]


async def test_quick_tools_keep_no_follower_and_no_slow_model_from_a_stream() -> None:
    followed = Stage(takes_s=1.0, quick_tools=True, followed=True)
    slow = Stage(takes_s=2.0, quick_tools=True)

    for stage in (followed, slow):
        await stage.call("c1", final=False)
        await stage.call("c2", final=False)

    assert followed.streamed() == [True, True]
    assert slow.streamed() == [True, True]


async def test_the_speed_of_a_model_is_known_from_other_queries() -> None:
    speeds = ModelSpeeds()
    first = Stage(takes_s=1.0, speeds=speeds)
    second = Stage(takes_s=1.0, speeds=speeds)

    await first.call("c1", final=False)
    await second.call("c1", final=True)

    assert second.streamed() == [False]
