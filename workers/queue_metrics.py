"""A cluster's queue in the metrics of each process that uses it: its state, and what this process does with it.

All processes show the same state, because there is one queue. Each counts its own actions, which a dashboard sums.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

# Imported as a module, so that nothing of it loads without Prometheus.
from antiphon import telemetry
from antiphon.cluster import QueueState
from antiphon.vocabulary.errors import ServiceError

LOOK_S = 2.0
"""Seconds that `/metrics` waits for the queue's servers; if they are away, it still shows the other metrics."""

QUEUE_GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "antiphon_queue_reachable": (
        "1 while the servers of the cluster's queue answer.",
        (),
    ),
    "antiphon_queue_waiting": (
        "Queries that wait for a worker; each tenant's are in one lane of a few.",
        ("lane",),
    ),
    "antiphon_queue_oldest_seconds": (
        "How long the oldest waiting query has waited.",
        (),
    ),
    "antiphon_queue_claimed": ("Queries that all workers together have claimed.", ()),
    "antiphon_queue_dead": (
        "Queries that were given up in the last 14 days, because no worker that took them finished them.",
        (),
    ),
    "antiphon_claims_held": ("Queries of the queue that this worker has claimed.", ()),
}
"""The state of the queue, read on demand; every process that uses a queue shows it."""


class WatchedQueue(Protocol):
    """A queue whose state can be read; `cluster.QueryQueue` is one."""

    async def state(self) -> QueueState: ...

    async def count_dead(self) -> int: ...


def watch_queue(metrics: telemetry.Metrics, queue: WatchedQueue) -> QueueMetrics:
    """Shows the queue in a process's metrics; returns the counter of the process's actions on it."""
    counts = QueueMetrics(queue, metrics.increment)
    metrics.watch(counts.values, QUEUE_GAUGES, counts.look)
    return counts


class QueueMetrics:
    """The queue at the last look, and what this process has done with it (`ClaimCounts`)."""

    def __init__(self, queue: WatchedQueue, increment: Callable[..., None]) -> None:
        self._queue = queue
        self._increment = increment
        self._held = 0
        self._seen: dict[str, dict[tuple[str, ...], float]] = {}

    def claimed(self, deliveries: int) -> None:
        self._held += 1
        self._increment("antiphon_claims", "over" if deliveries > 1 else "first")

    def let_go(self) -> None:
        self._held -= 1

    def lost(self) -> None:
        self._increment("antiphon_claims_lost")

    def given_up(self) -> None:
        self._increment("antiphon_queries_given_up")

    async def look(self) -> None:
        """Reads the state of the queue; forgets the last one if the queue cannot be reached."""
        seen: dict[str, dict[tuple[str, ...], float]] = {}
        with suppress(ServiceError, TimeoutError):
            async with asyncio.timeout(LOOK_S):
                state = await self._queue.state()
                dead = await self._queue.count_dead()
            seen = {
                "antiphon_queue_waiting": {
                    (str(lane),): count for lane, count in enumerate(state.lanes)
                },
                "antiphon_queue_oldest_seconds": {(): state.oldest_s},
                "antiphon_queue_claimed": {(): state.claimed},
                "antiphon_queue_dead": {(): dead},
            }
        self._seen = seen

    def values(self) -> Mapping[str, Mapping[tuple[str, ...], float]]:
        """Returns its gauges; if the queue was not reached, only that and the claims of this process."""
        return {
            **self._seen,
            "antiphon_queue_reachable": {(): float(bool(self._seen))},
            "antiphon_claims_held": {(): self._held},
        }
