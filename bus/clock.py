"""The system's time as a `Clock`."""

from __future__ import annotations

import asyncio
import time


class SystemClock:
    """Wall time at creation plus monotonic time since, so that setting the system's clock cannot turn it back."""

    def __init__(self) -> None:
        self._anchor = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch, never running backwards."""
        return self._anchor + time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Returns after so many seconds."""
        await asyncio.sleep(seconds)
