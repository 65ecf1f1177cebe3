"""Keeps exceptions of code from outside from ending more than that code: `sys.exit()` in a tool is a failed call.

`SystemExit`, `KeyboardInterrupt`, `GeneratorExit` and `CancelledError` do not derive from `Exception`, so they pass
through `except Exception`, and the first two end the event loop with all that runs on it. Those raised on purpose from
outside that code still get through: Ctrl-C, the cancellation of a task, and the closing of a coroutine.
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
    """Converts what code from outside raised into an error that ends nothing else.

    For code that runs without awaiting; `contained` is for awaitables.

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
    """Awaits code from outside, and raises what it raises as `failure_of` converts it.

    Raises:
        CancelledError: The task was cancelled, even if the code raised something else then.
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
        # The code may have raised something else in place of the cancellation.
        if task is not None and task.cancelling():
            raise asyncio.CancelledError from error
        raise failure_of(error) from error


def words_of(error: BaseException) -> str:
    """Returns `Type: message` for what code from outside raised; the message alone if that names the type."""
    if isinstance(error, ContainedError):
        return str(error)
    return f"{type(error).__name__}: {message_of(error)}".removesuffix(": ")


def message_of(error: BaseException) -> str:
    """Returns the message of what code from outside raised, even if reading it raises."""
    try:
        return str(error)
    except BaseException as raised:  # noqa: BLE001 - the message of a user's error is a user's code too
        failure_of(raised)
        return "its message cannot be read"


def traceback_of(error: BaseException) -> str:
    """Returns the traceback as text for a line of the log, without local variables.

    If a program that uses us has not set up structlog, `exc_info` prints those of every frame: 40 KB, secrets included.
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
    """Cancels a task until it ends: up to Python 3.11, `wait_for` in the NATS client may swallow a cancellation."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=1.0)
