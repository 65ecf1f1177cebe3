"""An event loop whose time jumps, for code that talks to itself over sockets: minutes of silence cost nothing."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

QUIET_S = 0.01
"""Real seconds without a byte after which the time jumps. Both ends are in this loop, and loopback delivers at once: by
the time that nothing is left to do, all bytes have arrived."""


class LoopbackLoop(asyncio.SelectorEventLoop):
    """Jumps to the next timer if nothing is ready, no byte is on its way and no thread works."""

    def __init__(self) -> None:
        self._virtual_s = 0.0
        self._working: set[asyncio.Future[Any]] = set()
        super().__init__()

    def time(self) -> float:
        return self._virtual_s

    def run_in_executor(  # type: ignore[override]  # as asyncio declares it, less narrowly
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = super().run_in_executor(executor, func, *args)
        self._working.add(future)
        future.add_done_callback(self._working.discard)
        return future

    def _run_once(self) -> None:
        if not self._ready:  # type: ignore[attr-defined]  # asyncio's own, as all that follows
            self._wait_or_jump()
        super()._run_once()  # type: ignore[misc]

    def _wait_or_jump(self) -> None:
        timers: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        while timers and timers[0].cancelled():
            heapq.heappop(timers)._scheduled = False  # type: ignore[attr-defined]
        quiet_s: float | None = QUIET_S
        if self._working or not timers:
            quiet_s = None
        arrived = self._selector.select(quiet_s)  # type: ignore[attr-defined]
        self._process_events(arrived)  # type: ignore[attr-defined]
        if not arrived and timers:
            self._virtual_s = max(self._virtual_s, timers[0].when())


class LoopClock:
    """The loop's time as a `Clock`."""

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` to its end in the loop's own time."""
    with asyncio.Runner(loop_factory=LoopbackLoop) as runner:
        return runner.run(work)
