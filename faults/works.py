"""The work that components start: faults in its beginning and its life."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from antiphon.faults.passage import InjectedError, Meeting
from antiphon.vocabulary.ports import Spawn

LATE_S = 1.0


def faulty_spawn(spawn: Spawn, meeting: Meeting) -> Spawn:
    """`spawn`, with faults."""

    def begin(work: Coroutine[Any, Any, None], /, *, background: bool = False) -> Callable[[], object]:
        point = f"spawn.{name_of_work(work)}"
        fault = meeting.meet(point)
        if fault is None:
            return spawn(work, background=background)
        if fault.kind == "drop":
            work.close()
            return lambda: None
        if fault.kind == "cancel":
            cancel = spawn(work, background=background)
            asyncio.get_running_loop().call_soon(cancel)
            return cancel
        if fault.kind == "raise":
            work.close()
            return spawn(_named(_fail(point, meeting), work), background=background)
        meeting.held.append(work)
        return spawn(_named(_begin_late(work, fault.for_s or LATE_S), work), background=background)

    return begin


def name_of_work(work: object) -> str:
    """`Class.method` of a coroutine."""
    return str(getattr(work, "__qualname__", type(work).__name__))


def _named(work: Coroutine[Any, Any, None], like: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
    setattr(work, "__qualname__", name_of_work(like))  # noqa: B010 - the type of coroutines hides it
    return work


async def _fail(point: str, meeting: Meeting) -> None:
    # The session hears of it in the loop's next turn: where the query has ended by then, there is nowhere to say it.
    asyncio.get_running_loop().call_soon(meeting.note_raised, point)
    raise InjectedError(f"{point}: injected: raise")


async def _begin_late(work: Coroutine[Any, Any, None], seconds: float) -> None:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        work.close()
        raise
    await work
