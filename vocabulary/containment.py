"""Keeps what code from outside raises from ending more than that code: `sys.exit()` in a tool is a failed call.

`SystemExit`, `KeyboardInterrupt`, `GeneratorExit` and `CancelledError` are no `Exception`, so that they pass through
what catches errors, and the first two end the event loop with all that runs on it. What raises them on purpose, and
from outside that code, still gets through: Ctrl-C, the cancellation of a task, and the closing of a coroutine.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import traceback
from collections.abc import Awaitable
from typing import TypeVar

from antiphon.vocabulary.errors import ContainedError

T = TypeVar("T")


def failure_of(error: BaseException) -> Exception:
    """Returns what code from outside raised as an error that ends nothing else.

    For code that runs without a pause; `contained` is for what is awaited.

    Raises:
        KeyboardInterrupt: It may come from the keyboard.
    """
    if isinstance(error, Exception):
        return error
    if isinstance(error, KeyboardInterrupt) and _ctrl_c_raises():
        raise error
    failure = ContainedError(_what_happened(error))
    failure.__cause__ = error
    return failure


async def contained(work: Awaitable[T]) -> T:
    """Awaits what code from outside does, and lets through what it raises, as `failure_of` returns it.

    Raises:
        CancelledError: The task was cancelled, whatever the code made of that.
    """
    loop = asyncio.get_running_loop()
    task = asyncio.current_task(loop)
    try:
        return await work
    except Exception:
        raise
    except BaseException as error:
        if asyncio.current_task(loop) is not task:
            raise  # Somebody closes the coroutine, which is no longer part of a running task.
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from error
        raise failure_of(error) from error


def words_of(error: BaseException) -> str:
    """Returns `Type: message` of what code from outside raised; the message alone if that names the type."""
    if isinstance(error, ContainedError):
        return str(error)
    return f"{type(error).__name__}: {message_of(error)}".removesuffix(": ")


def message_of(error: BaseException) -> str:
    """Returns the message of what code from outside raised, also if reading it raises."""
    try:
        return str(error)
    except BaseException as raised:  # noqa: BLE001 - the message of a user's error is a user's code too
        failure_of(raised)
        return "its message cannot be read"


def traceback_of(error: BaseException) -> str:
    """Returns the traceback as text for a line of the log, without local variables.

    If a program that uses us has not set up structlog, `exc_info` shows each frame's: 40 KB, and secrets among them.
    """
    return "".join(traceback.format_exception(error)).rstrip()


def _what_happened(error: BaseException) -> str:
    words = words_of(error)
    if isinstance(error, asyncio.CancelledError):
        return f"work that it had started was cancelled ({words})"
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return f"it tried to end the process ({words})"
    return words


def _ctrl_c_raises() -> bool:
    """Returns True if Ctrl-C raises KeyboardInterrupt here; our commands and asyncio's runner handle it otherwise."""
    if threading.current_thread() is not threading.main_thread():
        return False
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


async def end_task(task: asyncio.Task[None]) -> None:
    """Cancels a task until it is over: up to Python 3.11 `wait_for`, within the client of NATS, may swallow that."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=1.0)
