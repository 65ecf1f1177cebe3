"""The tasks that a session owns: it counts them while they run, and cancels and awaits them at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from antiphon.vocabulary.containment import contained

_log = structlog.get_logger(__name__)

_CANCEL_WAIT_S = 5.0
"""Seconds that cancelled work gets to clean up; after that the session logs it and leaves it behind."""


@dataclass(slots=True)
class _Held:
    """Work that waits until its causes are stored, and the context in which it will run."""

    work: Coroutine[Any, Any, None]
    background: bool
    context: Context
    cancelled: bool = False
    task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Ends the work, or keeps it from starting."""
        if self.task is not None:
            self.task.cancel()
        elif not self.cancelled:
            self.cancelled = True
            # Without this Python warns of a coroutine that was never awaited.
            self.work.close()


class Work:
    """Tasks of one session.

    Args:
        on_failure: Is called with the qualified name of work that raised, and its error.
        on_end: Is called each time that work other than background work ends, in any way.
    """

    def __init__(
        self,
        on_failure: Callable[[str, BaseException], None],
        on_end: Callable[[], None],
    ) -> None:
        self._on_failure = on_failure
        self._on_end = on_end
        self._tasks: dict[asyncio.Task[None], bool] = {}
        self._running = 0
        self._stopped = False
        self._holding = False
        self._held: list[_Held] = []

    @property
    def running(self) -> int:
        """The number of tasks under way, without background work."""
        return self._running

    @property
    def held(self) -> bool:
        """True if work waits for `release`."""
        return bool(self._held)

    def spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        """Starts work, or keeps it until `release`; the result cancels it. Once the session ended, nothing starts."""
        if self._stopped:
            work.close()
            return lambda: None
        if not self._holding:
            return self._start(work, background).cancel
        held = _Held(work, background, copy_context())
        self._held.append(held)
        return held.cancel

    def hold(self) -> None:
        """Lets nothing start until `release`."""
        self._holding = True

    def release(self) -> None:
        """Starts the work that was held, in order."""
        self._holding = False
        released = self._held
        self._held = []
        for held in released:
            if not held.cancelled:
                # In the context of the event that it came from, so that what it publishes has the right cause.
                held.task = held.context.run(self._start, held.work, held.background)

    def _start(
        self, work: Coroutine[Any, Any, None], background: bool
    ) -> asyncio.Task[None]:
        name = str(getattr(work, "__qualname__", type(work).__name__))
        task = asyncio.get_running_loop().create_task(contained(work), name=name)
        self._tasks[task] = background
        if not background:
            self._running += 1
        # Called in a copy of this context: what it publishes has the same cause as the work itself.
        task.add_done_callback(partial(self._done, work))
        return task

    def forget(self) -> None:
        """Drops the references to a session that is over: work that would not stop has nobody to report to."""
        self._on_failure = _ignore
        self._on_end = _do_nothing

    async def stop(self) -> None:
        """Cancels everything and waits until it has ended."""
        self._stopped = True
        for held in self._held:
            held.cancel()
        # A task that is done stays in the table until its callback has run.
        pending = [task for task in self._tasks if not task.done()]
        if not pending:
            return
        for task in pending:
            task.cancel()
        # Nearly all of it ends in the loop's next turn; `asyncio.wait` would cost a timer and two more turns.
        await asyncio.sleep(0)
        if all(task.cancelled() for task in pending):
            return
        _, stuck = await asyncio.wait(pending, timeout=_CANCEL_WAIT_S)
        if stuck:
            names = [task.get_name() for task in stuck]
            _log.error("work_would_not_stop", work=sorted(names))

    def _done(self, work: Coroutine[Any, Any, None], task: asyncio.Task[None]) -> None:
        work.close()  # nothing else closes the coroutine of a task that was cancelled before it began
        background = self._tasks.pop(task)
        if not background:
            self._running -= 1
        # `exception` of a cancelled task raises.
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._on_failure(task.get_name(), error)
        # A session does not wait for background work.
        if not background:
            self._on_end()


def _ignore(_name: str, _error: BaseException) -> None:
    """Replaces `on_failure` once the session is over."""


def _do_nothing() -> None:
    """Replaces `on_end` once the session is over."""
