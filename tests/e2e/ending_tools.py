"""A tool of a user's own that raises what ends a process or a task, in every way that a tool runs code in."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NoReturn

from pydantic import BaseModel, model_serializer

WAY = Path("way")
"""The file, in the folder of the service, that names the way in which the tool ends."""


class Meeting:
    """Lets two calls of the tool be under way at once."""

    def __init__(self) -> None:
        self.beside = asyncio.Event()
        self.raised = asyncio.Event()


class Ending(BaseModel):
    """A result that ends the process when it is read."""

    @model_serializer
    def ending(self) -> dict[str, str]:
        sys.exit(3)


async def _exits() -> NoReturn:
    sys.exit(3)


async def _exits_in_a_task() -> object:
    return await asyncio.gather(_exits(), asyncio.sleep(0))


async def _exits_in_a_thread() -> object:
    return await asyncio.to_thread(sys.exit, 3)


async def _is_interrupted() -> NoReturn:
    raise KeyboardInterrupt


async def _is_closed() -> NoReturn:
    raise GeneratorExit


async def _is_cancelled() -> NoReturn:
    raise asyncio.CancelledError


async def _recurs() -> object:
    return await _recurs()


async def _returns_an_ending() -> object:
    return Ending()


WAYS: dict[str, Callable[[], Awaitable[object]]] = {
    "exit": _exits,
    "exit in a task": _exits_in_a_task,
    "exit in a thread": _exits_in_a_thread,
    "keyboard interrupt": _is_interrupted,
    "generator exit": _is_closed,
    "cancelled": _is_cancelled,
    "recursion": _recurs,
    "result": _returns_an_ending,
}


_meetings = [Meeting()]


async def room_of(course: str) -> object:
    """Look up the room in which a course is taught, and on which days it meets.

    Args:
        course: The course's title.
    """
    meeting = _meetings[-1]
    if "pear" in course.lower():
        meeting.beside.set()
        await meeting.raised.wait()
        # The loop turns, so that what the other call raises gets as far as it can.
        await asyncio.sleep(0.1)
        _meetings.append(Meeting())
        return "It is taught in room 4.12, and meets on Mondays."
    await meeting.beside.wait()
    meeting.raised.set()
    return await WAYS[_way()]()


def _way() -> str:
    return WAY.read_text()
