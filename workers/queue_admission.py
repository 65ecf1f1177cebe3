"""Admission to the queue: decides which queries may wait for a worker, and when the others should try again.

The expected wait follows from the queries that wait, the workers' places, and the duration of their last queries.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from antiphon.cluster import QueryQueue, QueueState, WorkerReport
from antiphon.vocabulary.errors import BusyError, QueueFullError

FIRST_GUESS_S = 5.0
"""Assumed duration of a query in seconds, before any has ended."""
KNOWN_FOR_S = 0.25
"""Seconds for which the last look at the queue is good enough: a look costs the servers a request per lane."""
HEARD_FOR_S = 5.0
"""Seconds without a report after which a worker counts as gone."""
LANE_SHARE = 0.5
"""The largest share of the queue for one lane, so that a tenant who floods it leaves room for others."""
WITHOUT_WORKERS = 100
"""Queries that may wait while no worker reports: workers sometimes start later than the nodes that take questions."""


class QueueAdmission:
    """The queue as one node sees it; one per service.

    Args:
        most_wait_s: The longest expected wait, in seconds, with which a query is admitted.
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
        """Notes a worker's report."""
        self._workers[report.name] = (self._now(), report)

    def workers(self) -> tuple[WorkerReport, ...]:
        """Returns the latest report of each worker that has reported recently."""
        oldest = self._now() - HEARD_FOR_S
        self._workers = {
            name: heard for name, heard in self._workers.items() if heard[0] >= oldest
        }
        return tuple([report for _, report in self._workers.values()])

    async def state(self) -> QueueState:
        """Returns the queue as of the last look, a moment ago at most. Raises as `QueryQueue.state` does."""
        if self._now() >= self._known_until:
            # Set before the request, so that queries that arrive meanwhile do not make requests of their own.
            self._known_until = self._now() + KNOWN_FOR_S
            self._since = 0
            self._state = await self._queue.state()
        return self._state

    async def let_in(self, tenant: str) -> None:
        """Admits one more query to the queue.

        Raises:
            QueueFullError: It would wait too long, or its lane already has its share of the queue.
            BusyError: The queue cannot be reached, or nothing can be stored.
        """
        trouble = self._queue.trouble
        if trouble is not None:
            raise BusyError(trouble, 2.0)
        state = await self.state()
        most = self._most_waiting()
        waiting = state.waiting + self._since
        # The estimate was wrong, as when workers hang: a new query would wait as long as the oldest has.
        if state.waiting and state.oldest_s > self._most_wait_s:
            raise self._full(waiting)
        # One lane may not exceed its share, but one query of a lane may always wait.
        if waiting >= most or self._lane(state, tenant) >= max(1.0, LANE_SHARE * most):
            raise self._full(waiting)
        self._since += 1

    def expected_wait_s(self, waiting: int) -> float:
        """Returns the seconds until a worker would claim a query behind `waiting` others."""
        places = self._places()
        if not places:
            return math.inf
        return self._lasting_s() * waiting / places

    def _lane(self, state: QueueState, tenant: str) -> int:
        if not state.lanes:
            return 0
        return state.lanes[self._queue.lane_of(tenant)]

    def _most_waiting(self) -> float:
        """Returns how many queries may wait: those that workers have places for now or within the longest wait."""
        places = self._places()
        if not places:
            return WITHOUT_WORKERS
        return places * (1 + self._most_wait_s / self._lasting_s())

    def _places(self) -> int:
        return sum([report.places for report in self.workers()])

    def _lasting_s(self) -> float:
        """Returns the expected duration of a query: the mean of the last ones."""
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
