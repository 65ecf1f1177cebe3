"""Bounds work by the session's own clock, so that tests and replays with a time of their own drive its limits too."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from antiphon.vocabulary.ports import Clock

T = TypeVar("T")


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end.

    Raises:
        TimeoutError: It took longer than `seconds` by the clock, and was cancelled.
    """
    # asyncio's scope knows its own cancellation from one that comes from outside; the event loop's time,
    # by which it would expire, is not used: it expires by the session's clock.
    async with asyncio.timeout(None) as scope:
        timer = asyncio.create_task(_expire(scope, clock, seconds), name="time limit")
        try:
            result = await work
        finally:
            timer.cancel()
    return result


async def _expire(scope: asyncio.Timeout, clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)
    scope.reschedule(asyncio.get_running_loop().time())
