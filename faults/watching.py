"""A live follower of the broken query, which may itself be what is wrong."""

from __future__ import annotations

import asyncio

from faults.passage import Meeting
from service import Running
from vocabulary.errors import SlowReaderError

SMALL_BUFFER = 5


async def watch(running: Running, meeting: Meeting) -> int:
    """Reads the query as it runs; how much it read. It never ends the query, whatever it does."""
    fault = meeting.meet("follower")
    follower = running.follow() if fault is None else running.follow(SMALL_BUFFER)
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
