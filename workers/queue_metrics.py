"""The queue of a cluster in the metrics of each process that uses it: how it is, and what this process does with it.

How the queue is, every process shows alike, for it is one; what is done with it is each one's own, and is summed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

# As a module: without Prometheus nothing of it is loaded.
from antiphon import telemetry
from antiphon.cluster import QueueState
from antiphon.vocabulary.errors import ServiceError

LOOK_S = 2.0
"""Seconds that `/metrics` waits for the servers that hold the queue; it has the rest to show if they are away."""

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
"""The state of the queue, looked at on demand; shown by processes that use one."""


class WatchedQueue(Protocol):
    """A queue that can be looked at; `cluster.QueryQueue` is one."""

    async def state(self) -> QueueState: ...

    async def count_dead(self) -> int: ...


def watch_queue(metrics: telemetry.Metrics, queue: WatchedQueue) -> QueueMetrics:
    """Shows the queue in a process's metrics; returns what counts what the process does with it."""
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
        """Looks at the queue; if it cannot be reached nothing is known of it."""
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
        """Returns its gauges; of a queue that was not reached only that, and what this process has of it."""
        return {
            **self._seen,
            "antiphon_queue_reachable": {(): float(bool(self._seen))},
            "antiphon_claims_held": {(): self._held},
        }
