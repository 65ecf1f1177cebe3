"""Admission of queries: how many run at once, which wait for a place, and which must come back later.

A query waits if the expected wait is short, estimated from the durations of past queries and from those that run and
wait. If the event loop itself is late, fewer run at once, because more would only slow down all of them.
"""

from __future__ import annotations

import asyncio
import math
import statistics
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from antiphon.vocabulary.errors import BusyError

FIRST_GUESS_S = 5.0
"""Estimated seconds of a query before any has ended."""
NEWEST = 0.1
"""Weight of the newest query in the mean duration, which covers about the last twenty."""
LATE_S = 0.1
"""Lateness of the event loop, in seconds, above which fewer queries run at once."""
LEAST_AT_ONCE = 8
"""Fewest queries that run at once, no matter how late the loop is: another program may hold the processor."""
FEWER = 0.8
LOOKS = 10
LOOK_EVERY_S = 0.1

Now = Callable[[], float]


class Admission:
    """The places for running queries, and the line of those that wait for one; a service has one admission.

    Args:
        most: Queries that may run at once.
        most_wait_s: Seconds that a query may wait for its place; 0: none waits.
        running: Counts the running queries, including resumed ones and forks.
    """

    def __init__(
        self,
        most: int,
        most_wait_s: float,
        running: Callable[[], int],
        now: Now = time.monotonic,
    ) -> None:
        self._most = most
        self._most_wait_s = most_wait_s
        self._running = running
        self._now = now
        self._at_once = most
        self._reserved = 0
        self._line: deque[asyncio.Future[None]] = deque()
        self._begun: dict[str, float] = {}
        self._mean_s: float | None = None
        self._closing = False

    @property
    def at_once(self) -> int:
        """The queries that may run at once now."""
        return self._at_once

    @property
    def waiting(self) -> int:
        """The queries that wait for a place."""
        return len(self._line)

    @property
    def closing(self) -> bool:
        """True once the service has begun to close."""
        return self._closing

    def check_open(self) -> None:
        """Refuses (BusyError) once the service has begun to close."""
        if self._closing:
            raise _closing()

    def check(self) -> None:
        """Refuses if a query cannot begin immediately.

        Raises:
            BusyError: Too many queries run, or the service is closing.
        """
        self.check_open()
        if not self._has_place():
            raise self._busy()

    @asynccontextmanager
    async def place(self, query_id: str) -> AsyncIterator[None]:
        """Waits for a place, and holds it while the query starts; then the query counts by itself.

        Raises:
            BusyError: The wait would be, or was, too long, or the service is closing.
        """
        await self._wait()
        self._begun[query_id] = self._now()
        try:
            yield
        except BaseException:
            # The query did not start, so it has no duration.
            self._begun.pop(query_id, None)
            raise
        finally:
            self._give_back()

    def ended(self, query_id: str) -> None:
        """Notes how long a query took, and lets the next one in."""
        begun = self._begun.pop(query_id, None)
        if begun is not None:
            took = self._now() - begun
            if self._mean_s is None:
                self._mean_s = took
            self._mean_s += NEWEST * (took - self._mean_s)
        self._let_in()

    def expected_wait_s(self) -> float:
        """Estimates the seconds after which one more query would get its place."""
        if self._has_place() and not self._line:
            return 0.0
        return self._lasting_s() * (len(self._line) + 1) / self._at_once

    def adapt(self, late_s: float) -> None:
        """Lets fewer queries run at once if the event loop is late, and more again if it is not."""
        # If few queries run, something else makes the loop late.
        if late_s > LATE_S and self._running() > LEAST_AT_ONCE:
            # From the number that really run: a limit above it has no effect yet.
            fewer = int(min(self._at_once, self._running()) * FEWER)
            self._at_once = min(self._at_once, max(LEAST_AT_ONCE, fewer))
        elif late_s < LATE_S / 2:
            self._at_once = min(
                self._most, self._at_once + max(1, self._at_once // LEAST_AT_ONCE)
            )
        self._let_in()

    def close(self) -> None:
        """Refuses all waiting and all later queries."""
        self._closing = True
        for waiting in self._line:
            if not waiting.done():
                waiting.set_exception(_closing())
        self._line.clear()

    def _has_place(self) -> bool:
        return self._running() + self._reserved < self._at_once

    def _lasting_s(self) -> float:
        """Estimates a query's duration by the last ones, or by the running ones if those have lasted longer already."""
        lasting = self._mean_s if self._mean_s is not None else FIRST_GUESS_S
        if self._begun:
            ages = self._now() * len(self._begun) - sum(self._begun.values())
            lasting = max(lasting, ages / len(self._begun))
        return lasting

    async def _wait(self) -> None:
        """Returns once a place is reserved."""
        self.check_open()
        if self._has_place() and not self._line:
            self._reserved += 1
            return
        if self.expected_wait_s() > self._most_wait_s:
            raise self._busy()
        place = asyncio.get_running_loop().create_future()
        self._line.append(place)
        try:
            async with asyncio.timeout(self._most_wait_s):
                await place
        except TimeoutError as error:
            self._leave_line(place)
            raise self._busy() from error
        except BaseException:
            self._leave_line(place)
            raise

    def _leave_line(self, place: asyncio.Future[None]) -> None:
        if place in self._line:
            self._line.remove(place)
        # The query got a place at the moment when it stopped waiting, so it gives it back.
        elif (
            place.done()
            and not place.cancelled()
            and not isinstance(place.exception(), BusyError)
        ):
            self._give_back()

    def _give_back(self) -> None:
        self._reserved -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._line and self._has_place():
            place = self._line.popleft()
            # The waiting task may be gone.
            if not place.done():
                self._reserved += 1
                place.set_result(None)

    def _busy(self) -> BusyError:
        wait_s = self.expected_wait_s()
        # By then the line is short enough, if nobody else comes.
        again_s = max(1, math.ceil(wait_s - self._most_wait_s))
        return BusyError(
            f"This service is answering as many questions as it can at once. The next place is about {wait_s:.1f} s "
            f"away, and a question waits at most {self._most_wait_s:g} s: ask again in {again_s} s.",
            retry_after_s=again_s,
        )


async def watch_loop(admission: Admission) -> None:
    """Measures how late the event loop is and adapts the admission to it, until cancelled."""
    while True:
        late: list[float] = []
        for _ in range(LOOKS):
            began = time.perf_counter()
            await asyncio.sleep(LOOK_EVERY_S)
            late.append(time.perf_counter() - began - LOOK_EVERY_S)
        # The median, because one long step, such as reading a large trace, delays no query for long.
        admission.adapt(statistics.median(late))


def _closing() -> BusyError:
    return BusyError("This service is closing: ask again in a moment.")
