"""Admission by the queue: who may wait for a worker, and who must come again, and when.

The wait is reckoned from what waits, what workers have places for, and how long their last queries took.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from antiphon.cluster import QueryQueue, QueueState, WorkerReport
from antiphon.vocabulary.errors import BusyError, QueueFullError

FIRST_GUESS_S = 5.0
"""Seconds that a query is taken to last before any has ended."""
KNOWN_FOR_S = 0.25
"""Seconds for which the queue is taken to be as it was looked at: a look asks the servers once a lane."""
HEARD_FOR_S = 5.0
"""Seconds after which a worker that has told nothing of itself is taken to be gone."""
LANE_SHARE = 0.5
"""The most of the queue that one lane may be: who floods it leaves the others room."""
WITHOUT_WORKERS = 100
"""Queries that may wait while no worker is heard of: workers start later than the nodes that are asked, at times."""


class QueueAdmission:
    """The queue as one node sees it; one a service.

    Args:
        most_wait_s: Seconds that a query may be expected to wait.
    """

    def __init__(
        self,
        queue: QueryQueue,
        most_wait_s: float,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._queue = queue
        self._most_wait_s = most_wait_s
        self._now = now
        self._state = QueueState()
        self._known_until = 0.0
        self._since = 0
        self._workers: dict[str, tuple[float, WorkerReport]] = {}

    def hear(self, report: WorkerReport) -> None:
        """Takes in what a worker tells of itself."""
        self._workers[report.name] = (self._now(), report)

    def workers(self) -> tuple[WorkerReport, ...]:
        """Returns the workers that were heard of just now."""
        oldest = self._now() - HEARD_FOR_S
        self._workers = {
            name: heard for name, heard in self._workers.items() if heard[0] >= oldest
        }
        return tuple([report for _, report in self._workers.values()])

    async def state(self) -> QueueState:
        """Returns the queue as it was at the last look, which is not long ago. Raises as `QueryQueue.state` does."""
        if self._now() >= self._known_until:
            self._known_until = self._now() + KNOWN_FOR_S
            self._since = 0
            self._state = await self._queue.state()
        return self._state

    async def let_in(self, tenant: str) -> None:
        """Counts one more query that will wait.

        Raises:
            QueueFullError: It would wait too long, or its lane is too much of the queue already.
            BusyError: The queue cannot be reached, or nothing can be stored.
        """
        trouble = self._queue.trouble
        if trouble is not None:
            raise BusyError(trouble, 2.0)
        state = await self.state()
        most = self._most_waiting()
        waiting = state.waiting + self._since
        # The reckoning was wrong, such as when workers hang: who comes now would wait as long as the oldest has.
        if state.waiting and state.oldest_s > self._most_wait_s:
            raise self._full(waiting)
        # Not more of one lane than its share, though alone it may take every place that is free.
        if waiting >= most or self._lane(state, tenant) >= max(1.0, LANE_SHARE * most):
            raise self._full(waiting)
        self._since += 1

    def expected_wait_s(self, waiting: int) -> float:
        """Returns the seconds after which a query behind so many others would be claimed."""
        places = self._places()
        if not places:
            return math.inf
        return self._lasting_s() * waiting / places

    def _lane(self, state: QueueState, tenant: str) -> int:
        if not state.lanes:
            return 0
        return state.lanes[self._queue.lane_of(tenant)]

    def _most_waiting(self) -> float:
        """Returns how many may wait: as many as are claimed within the longest wait, and those that find a place."""
        places = self._places()
        if not places:
            return WITHOUT_WORKERS
        return places * (1 + self._most_wait_s / self._lasting_s())

    def _places(self) -> int:
        return sum([report.places for report in self.workers()])

    def _lasting_s(self) -> float:
        """Returns how long a query lasts, as the last ones did."""
        known = [each.mean_s for each in self.workers() if each.mean_s is not None]
        if not known:
            return FIRST_GUESS_S
        return max(0.01, sum(known) / len(known))

    def _full(self, waiting: int) -> QueueFullError:
        wait_s = self.expected_wait_s(waiting)
        if math.isinf(wait_s):
            return QueueFullError(
                f"{waiting} questions wait, and no worker has been heard from: start one with `antiphon worker`, "
                "and ask again in a moment.",
                5.0,
            )
        again_s = max(1, math.ceil(wait_s - self._most_wait_s))
        return QueueFullError(
            f"{waiting} questions wait for a worker, and one more would wait about {wait_s:.0f} s, or is one too many "
            f"of its tenant's: ask again in {again_s} s.",
            float(again_s),
        )
