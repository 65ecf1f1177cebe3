"""Threads for tools that are plain functions, so that a blocking one holds up neither event loop nor other tools."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from contextvars import copy_context
from functools import partial, wraps
from threading import Lock, Thread
from typing import Any

import structlog

MOST_THREADS = 8
"""Calls of one plain function that may run at once; others wait, which counts against their time limits."""

_log = structlog.get_logger(__name__)


class DaemonThreads(Executor):
    """Runs each call in a daemon thread, up to a number of threads at once.

    At exit Python waits for the threads of a `ThreadPoolExecutor`, so a call that hangs would keep the process from
    ending.
    """

    def __init__(self, name: str, most: int = MOST_THREADS) -> None:
        self._name = name
        self._most = most
        self._lock = Lock()
        self._running = 0
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()

    def submit(
        self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Has a thread call `fn`; a call that is cancelled before a thread is free is never made."""
        future: Future[Any] = Future()
        with self._lock:
            self._waiting.append((future, partial(fn, *args, **kwargs)))
            is_full = self._running == self._most
            if not is_full:
                self._running += 1
        if is_full:
            _log.warning("no_thread_is_free", of=self._name, threads=self._most)
        else:
            Thread(target=self._work, name=self._name, daemon=True).start()
        return future

    def _work(self) -> None:
        """Makes one call after the other until none waits."""
        while True:
            with self._lock:
                if not self._waiting:
                    self._running -= 1
                    return
                future, call = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = call()
            except BaseException as error:  # noqa: BLE001 - as an executor does: it is the caller's
                future.set_exception(error)
            else:
                future.set_result(result)


def run_in_threads(fn: Callable[..., object]) -> Callable[..., Awaitable[object]]:
    """Makes an async function of a plain one, which runs in its own threads with the caller's context variables."""
    threads = DaemonThreads(f"tool {getattr(fn, '__name__', 'function')}")

    @wraps(fn)
    async def run(**arguments: object) -> object:
        call = partial(copy_context().run, _call, fn, arguments)
        result = await asyncio.get_running_loop().run_in_executor(threads, call)
        # Such as an async function wrapped in a decorator that is not async.
        if inspect.isawaitable(result):
            return await result
        return result

    return run


def _call(fn: Callable[..., object], arguments: dict[str, object]) -> object:
    try:
        return fn(**arguments)
    except StopIteration as error:
        # A future refuses StopIteration; an async function also raises RuntimeError in its place.
        raise RuntimeError("it raised StopIteration") from error
