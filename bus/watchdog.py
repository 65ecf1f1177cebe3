"""Names the code that blocks the event loop, while it does: it delays every query of the process."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import CodeType, FrameType
from typing import Any

import structlog

from antiphon.bus.delivery import Delivery
from antiphon.vocabulary.containment import contained

BEAT_S = 0.1
BLOCKED_S = 0.5
"""Seconds without a turn of the loop after which the log names the code that blocks it."""
_LOOK_S = 0.25

Entries = Mapping[CodeType, Callable[[Mapping[str, Any]], str]]
"""Functions that run code of others, each with a function that names that code by the first one's local variables."""

BUS_ENTRIES: Entries = {
    Delivery.call.__code__: lambda local: f"handler {local['subscription'].name}",
    contained.__code__: lambda local: f"work {_name_of(local['work'])}",
}

_log = structlog.get_logger(__name__)


class LoopWatchdog:
    """A thread that sees the loop's heartbeat stop, and logs what runs on the loop, once for each standstill.

    Args:
        entries: Name what runs, the innermost first; if none of them is on the stack, the task's coroutine does.
        blocked: Is called with the same name, in the watchdog's thread.
    """

    def __init__(
        self, entries: Entries, blocked: Callable[[str], None] = lambda _: None
    ) -> None:
        self._entries = entries
        self._blocked = blocked
        self._beaten_at = 0.0

    async def run(self) -> None:
        """Watches the running loop until it is cancelled."""
        ended = threading.Event()
        watched = (asyncio.get_running_loop(), threading.get_ident(), ended)
        self._beaten_at = time.monotonic()
        threading.Thread(
            target=self._watch, args=watched, name="loop watchdog", daemon=True
        ).start()
        try:
            while True:
                self._beaten_at = time.monotonic()
                await asyncio.sleep(BEAT_S)
        finally:
            ended.set()

    def _watch(
        self,
        loop: asyncio.AbstractEventLoop,
        loop_thread: int,
        ended: threading.Event,
    ) -> None:
        is_told = False
        while not ended.wait(_LOOK_S):
            stood_s = time.monotonic() - self._beaten_at
            if stood_s < BLOCKED_S:
                is_told = False
            elif not is_told:
                is_told = self._tell(loop, loop_thread, stood_s)

    def _tell(
        self, loop: asyncio.AbstractEventLoop, loop_thread: int, stood_s: float
    ) -> bool:
        """Logs what runs on the loop; returns False if nothing does, and the machine is merely slow."""
        # Both are read from another thread without a lock: the loop is stuck, and a rare mix-up costs one wrong line.
        task = asyncio.current_task(loop)
        frame = sys._current_frames().get(loop_thread)
        if task is None or frame is None:
            return False
        by, at = self._what_runs(frame, task)
        self._blocked(by)
        _log.warning(
            "event_loop_blocked",
            by=by,
            at=f"{at.f_code.co_filename}:{at.f_lineno} in {at.f_code.co_qualname}",
            for_s=round(stood_s, 1),
            advice="await what takes time, or have asyncio.to_thread call it; a tool may be a plain function",
        )
        return True

    def _what_runs(
        self, innermost: FrameType, task: asyncio.Task[Any]
    ) -> tuple[str, FrameType]:
        """Returns the name of what runs, and the frame that entered it: the outermost that is not ours."""
        at = innermost
        ours: FrameType | None = None
        frame: FrameType | None = innermost
        while frame is not None:
            name_of = self._entries.get(frame.f_code)
            if name_of is not None:
                return name_of(frame.f_locals), at
            if not _is_ours(frame):
                at = frame
            elif ours is None:
                ours = at
            frame = frame.f_back
        # No session runs it: it may be a task that a tool has started.
        work = task.get_coro()
        return _name_of(work), ours or getattr(work, "cr_frame", None) or innermost


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("antiphon.")


def _name_of(work: object) -> str:
    return str(getattr(work, "__qualname__", type(work).__name__))
