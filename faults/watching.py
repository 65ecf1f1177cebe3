"""A live follower of the broken query, which may itself be what is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine

from antiphon.faults.passage import Meeting
from antiphon.faults.plan import Fault
from antiphon.service import QueryHandle
from antiphon.vocabulary.errors import SlowReaderError
from antiphon.vocabulary.events import Event, Live, Recorded

SMALL_BUFFER = 5


def watch(running: QueryHandle, meeting: Meeting) -> Coroutine[None, None, int]:
    """Follows the query from now on; the result, awaited, reads it and says how much it read."""
    fault = meeting.meet("follower")
    return _read(running.follow() if fault is None else running.follow(SMALL_BUFFER), fault)


async def _read(follower: AsyncIterator[Recorded[Event] | Live], fault: Fault | None) -> int:
    """Reads to the end, or as the fault wants it; it never ends the query, whatever it does."""
    if fault is not None and fault.kind == "hang":
        await asyncio.Event().wait()
    read = 0
    try:
        async for _ in follower:
            read += 1
            if fault is not None and fault.kind == "cancel":
                break
            if fault is not None:
                await asyncio.sleep(1.0)
    except SlowReaderError:
        return read
    return read
