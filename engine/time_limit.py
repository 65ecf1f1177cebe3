"""Bounds work by the session's own clock, so that tests and replays with a time of their own drive its limits too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from antiphon.vocabulary.ports import Clock

T = TypeVar("T")

CallLater = Callable[[float, Callable[[], None]], Callable[[], object]]
"""The method by which the system's clock calls a function after so many seconds; its result takes that back."""


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end.

    Raises:
        TimeoutError: It took longer than `seconds` by the clock, and was cancelled.
    """
    # asyncio's scope knows its own cancellation from one that comes from outside; the event loop's time,
    # by which it would expire, is not used: it expires by the session's clock.
    async with asyncio.timeout(None) as scope:
        stop = _set_timer(scope, clock, seconds)
        try:
            result = await work
        finally:
            stop()
    return result


def _set_timer(
    scope: asyncio.Timeout, clock: Clock, seconds: float
) -> Callable[[], object]:
    """Lets the scope expire after so many seconds by the clock; the result takes that back."""
    # Nearly all limits are never reached: what the event loop itself can call later costs a tenth of a task.
    call_later: CallLater | None = getattr(clock, "call_later", None)
    if call_later is not None:
        return call_later(seconds, partial(_expire_now, scope))
    timer = asyncio.create_task(_expire(scope, clock, seconds), name="time limit")
    return timer.cancel


async def _expire(scope: asyncio.Timeout, clock: Clock, seconds: float) -> None:
    await clock.sleep(seconds)
    _expire_now(scope)


def _expire_now(scope: asyncio.Timeout) -> None:
    scope.reschedule(asyncio.get_running_loop().time())
