"""An event loop whose time jumps to the next timer when nothing else is left to do: seconds cost nothing."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """Only for code that waits for timers and for itself: it would starve real sockets."""

    def __init__(self) -> None:
        self._virtual_s = 0.0
        super().__init__()

    def time(self) -> float:
        return self._virtual_s

    def _run_once(self) -> None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]  # asyncio's own heap
        while timers and timers[0].cancelled():
            heapq.heappop(timers)._scheduled = False  # type: ignore[attr-defined]
        if timers and not self._ready:  # type: ignore[attr-defined]
            self._virtual_s = max(self._virtual_s, timers[0].when())
        super()._run_once()  # type: ignore[misc]


class VirtualClock:
    """The loop's time as a `Clock`."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
