"""An event loop on virtual time, which passes only when nothing else can happen, so that long waits take no time.

`asyncio.timeout`, `asyncio.sleep` and all timers use it. Work for threads runs at once instead, so that the same plan
always gives the same trace; with `block` such work takes virtual time.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

T = TypeVar("T")

EPOCH = 1_700_000_000.0


class StandstillError(RuntimeError):
    """Raised when nothing is ready and no timer runs, so that the loop would wait for ever."""


class _Selector(selectors.DefaultSelector):
    """Never waits; if nothing is ready, advances the virtual time by the time that the loop would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.elapsed_s = 0.0

    def select(
        self, timeout: float | None = None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        ready: list[tuple[selectors.SelectorKey, int]] = super().select(0)
        if ready:
            return ready
        if timeout is None:
            raise StandstillError(
                "nothing is ready and no timer runs: this would wait for ever"
            )
        self.elapsed_s += max(timeout, 0.0)
        return ready


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose time is virtual."""

    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)
        self._blocked_s = 0.0

    def time(self) -> float:
        return self._virtual.elapsed_s

    def block(self, seconds: float) -> None:
        """Adds to the virtual duration of the work that runs instead of in a thread."""
        self._blocked_s += seconds

    def stand_still(self, seconds: float) -> None:
        """Lets time pass without turns of the loop."""
        self._virtual.elapsed_s += seconds

    def run_in_executor(  # type: ignore[override]  # the base class's types are looser than its use
        self,
        executor: Executor | None,  # noqa: ARG002 - the interface of event loops
        func: Callable[..., T],
        *args: Any,
    ) -> asyncio.Future[T]:
        """Runs `func` at once; delivers its result after the virtual time that it took."""
        future: asyncio.Future[T] = self.create_future()
        self._blocked_s = 0.0
        try:
            settle: Callable[[], None] = _result(future, func(*args))
        except BaseException as error:  # noqa: BLE001 - as an executor does: it is the caller's
            settle = _error(future, error)
        took_s = self._blocked_s
        self._blocked_s = 0.0
        if took_s > 0:
            self.call_later(took_s, settle)
        else:
            settle()
        return future


def _result(future: asyncio.Future[T], value: T) -> Callable[[], None]:
    def settle() -> None:
        if not future.done():
            future.set_result(value)

    return settle


def _error(future: asyncio.Future[T], error: BaseException) -> Callable[[], None]:
    def settle() -> None:
        if not future.done():
            future.set_exception(error)

    return settle


def block(seconds: float) -> None:
    """Blocks the calling thread; does nothing on a real event loop, which only `block_loop` blocks."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        time.sleep(seconds)
        return
    if isinstance(loop, VirtualLoop):
        loop.block(seconds)


def block_loop(seconds: float) -> None:
    """Blocks the running event loop."""
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualLoop):
        loop.stand_still(seconds)
    else:
        time.sleep(seconds)


class VirtualClock:
    """Satisfies `vocabulary.ports.Clock` with the time of the running loop."""

    def now(self) -> float:
        return EPOCH + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Runs `work` on a virtual loop of its own."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
