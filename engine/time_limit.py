"""Limits work by the session's own clock, so that tests and replays with their own time drive the limits too."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from antiphon.vocabulary.ports import Clock

T = TypeVar("T")

CallLater = Callable[[float, Callable[[], None]], Callable[[], object]]
"""The system clock's method for calling a function after some seconds; its result cancels the call."""


async def within(clock: Clock, seconds: float, work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end.

    Raises:
        TimeoutError: It took longer than `seconds` by the clock, and was cancelled.
    """
    # asyncio's scope can tell its own cancellation from one from outside. It gets no deadline, because that would be by
    # the event loop's time: a timer of the session's clock makes it expire.
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
    """Makes the scope expire after so many seconds by the clock; the result cancels that."""
    # Nearly all limits are never reached, and a callback of the event loop costs a tenth of a task.
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
