"""The time limit of a call goes by the session's clock, and by nothing else."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.engine.time_limit import within
from tests.fakes import FixedClock


async def settle() -> None:
    """Lets everything run that can run."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_work_that_ends_in_time_leaves_no_timer() -> None:
    async def work() -> str:
        return "done"

    assert await within(FixedClock(), 5.0, work()) == "done"
    await settle()
    assert len(asyncio.all_tasks()) == 1


async def test_a_cancellation_from_outside_is_no_timeout() -> None:
    async def work() -> None:
        await asyncio.Future()

    task = asyncio.create_task(within(FixedClock(), 5.0, work()))
    await settle()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
