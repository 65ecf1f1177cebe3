"""The work that a session has started and owns: counted while it runs, cancelled and awaited at the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import structlog

from bus.delivery import name_of

_log = structlog.get_logger(__name__)

_CANCEL_WAIT_S = 5.0
"""Seconds that cancelled work gets to clean up; then it is left behind and logged."""

Failed = Callable[[str, BaseException], None]


class Work:
    """Tasks of one session.

    Args:
        failed: Is told of work (its qualified name) that raised.
        ended: Is told whenever some work ends, in whatever way.
    """

    def __init__(self, failed: Failed, ended: Callable[[], None]) -> None:
        self._failed = failed
        self._ended = ended
        self._tasks: dict[asyncio.Task[None], bool] = {}
        self._running = 0
        self._stopped = False

    @property
    def running(self) -> int:
        """How much work is under way, background work left out."""
        return self._running

    def spawn(self, work: Coroutine[Any, Any, None], /, *, background: bool = False) -> Callable[[], object]:
        """Starts it; the result cancels it. Once the session has ended, nothing starts any more."""
        if self._stopped:
            work.close()
            return lambda: None
        name = name_of(work)
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks[task] = background
        self._running += not background
        # Called in a copy of this context: what it publishes has the same cause as the work itself.
        task.add_done_callback(partial(self._done, name))
        return task.cancel

    async def stop(self) -> None:
        """Cancels everything and waits until it has ended."""
        self._stopped = True
        pending = [task for task in self._tasks if not task.done()]
        if not pending:
            return
        for task in pending:
            task.cancel()
        _, stuck = await asyncio.wait(pending, timeout=_CANCEL_WAIT_S)
        if stuck:
            _log.error("work_would_not_stop", work=sorted(task.get_name() for task in stuck))

    def _done(self, name: str, task: asyncio.Task[None]) -> None:
        self._running -= not self._tasks.pop(task)
        if not task.cancelled() and (error := task.exception()):
            self._failed(name, error)
        self._ended()
