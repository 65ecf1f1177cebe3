"""A tool with faults between its start and its result."""

from __future__ import annotations

import asyncio
import dataclasses
from functools import wraps
from typing import Any

from antiphon.dispatcher import Tool
from antiphon.faults.kinds import FOREVER_S
from antiphon.faults.passage import InjectedError, Meeting
from antiphon.faults.plan import Fault
from antiphon.vocabulary.ports import Clock

SLOW_S = 20.0
LATE_S = 2.0
OVERSIZED_CHARS = 3_000_000


def faulty_tool(tool: Tool, meeting: Meeting, clock: Clock) -> Tool:
    """The tool, with faults."""
    run = tool.run

    @wraps(run)
    async def broken(**arguments: Any) -> object:
        meeting.act()
        fault = meeting.meet(f"tool.{tool.name}")
        if fault is None:
            return await run(**arguments)
        if fault.kind in ("empty", "oversized", "malformed"):
            await run(**arguments)
            return _returned(fault)
        await _before(fault, clock, tool.name)
        return await run(**arguments)

    return dataclasses.replace(tool, run=broken)


def _returned(fault: Fault) -> object:
    if fault.kind == "oversized":
        return "A circuit breaker says much. " * (OVERSIZED_CHARS // 29)
    return None if fault.kind == "empty" else object()


async def _before(fault: Fault, clock: Clock, name: str) -> None:
    match fault.kind:
        case "hang" | "slow":
            await clock.sleep(fault.for_s or (FOREVER_S if fault.kind == "hang" else SLOW_S))
        case "cancel":
            raise asyncio.CancelledError(f"tool.{name}: injected: cancel")
        case "late":
            await _stubborn(clock, fault.for_s or LATE_S)
        case _:
            raise InjectedError(f"tool.{name}: injected: {fault.kind}")


async def _stubborn(clock: Clock, seconds: float) -> None:
    """Waits to be stopped, does not stop, and comes back all the same."""
    try:
        await clock.sleep(FOREVER_S)
    except asyncio.CancelledError:
        await clock.sleep(seconds)
