"""The system's clock keeps wall time and never runs backwards."""

from __future__ import annotations

import time

from antiphon.bus import SystemClock


async def test_it_tells_the_wall_time() -> None:
    clock = SystemClock()
    await clock.sleep(0)

    assert abs(clock.now() - time.time()) < 1


def test_it_never_runs_backwards() -> None:
    clock = SystemClock()
    times = [clock.now() for _ in range(100)]

    assert times == sorted(times)
