"""The time limit of a call goes by the session's clock, and by nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from antiphon.engine import ReasoningEngine, SummaryEngine
from antiphon.engine.time_limit import within
from antiphon.vocabulary.events import (
    Event,
    ReasoningFailed,
    SummaryFailed,
    SummaryRequested,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, Request, StoredText
from tests.fakes import FixedClock, command
from tests.fakes_messages_api import TOOLS, asked, recorded


class SilentModel:
    """A model that never answers."""

    name = None

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        await asyncio.Future()
        yield {}


def spawn(
    work: Coroutine[Any, Any, None], /, *, background: bool = False
) -> Callable[[], object]:
    return asyncio.get_running_loop().create_task(work).cancel


async def settle() -> None:
    """Lets everything run that can run."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_reasoning_call_ends_when_the_clock_says_so_and_not_before() -> None:
    clock = FixedClock()
    published: list[Event] = []
    engine = ReasoningEngine(
        published.append,
        lambda _: None,
        spawn,
        clock,
        {"primary": SilentModel()},
        TOOLS,
    )
    engine.perform(command(recorded(asked(timeout_s=20.0))))

    await settle()
    clock.advance(19.9)
    await settle()
    before = published[1:]
    clock.advance(0.2)
    await settle()

    assert before == []
    (failed,) = published[1:]
    assert isinstance(failed, ReasoningFailed)
    assert (failed.failure, failed.detail) == (
        "timeout",
        "the model had no complete reply within 20 s",
    )
    assert len(asyncio.all_tasks()) == 1


async def test_a_summarising_call_ends_when_the_clock_says_so() -> None:
    clock = FixedClock()
    published: list[Event] = []
    engine = SummaryEngine(published.append, spawn, clock, {"primary": SilentModel()})
    message = Message(role="user", content=(StoredText('{"type":"text","text":"x"}'),))
    request = SummaryRequested(
        call_id="s1",
        for_call="c1",
        round=2,
        reasoner="primary",
        model="m",
        max_tokens=100,
        timeout_s=3.0,
        messages=(message,),
    )
    engine.perform(command(recorded(request)))

    await settle()
    clock.advance(3.0)
    await settle()

    failed = published[-1]
    assert isinstance(failed, SummaryFailed)
    assert failed.failure == "timeout"


async def test_work_that_ends_in_time_leaves_no_timer() -> None:
    async def work() -> str:
        return "done"

    assert await within(FixedClock(), 5.0, work()) == "done"
    await settle()
    assert len(asyncio.all_tasks()) == 1


async def test_a_cancellation_from_outside_is_no_timeout() -> None:
    async def work() -> None:
        await asyncio.Future()

    task = asyncio.create_task(within(FixedClock(), 5.0, work()))
    await settle()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
