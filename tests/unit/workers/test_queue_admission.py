"""Admission by the queue: what waits, who can take it, and how long that lasts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from antiphon.cluster.queue_ports import (
    Claim,
    DeadClaim,
    DeadQuery,
    QueuedQuery,
    QueueState,
    WorkerReport,
)
from antiphon.vocabulary.errors import QueueFullError
from antiphon.workers.queue_admission import (
    HEARD_FOR_S,
    WITHOUT_WORKERS,
    QueueAdmission,
)


class StateOfQueue:
    """A queue of which only the state is asked."""

    trouble: str | None = None

    def __init__(self, *lanes: int) -> None:
        self.lanes = lanes
        self.oldest_s = 0.0
        self.looks = 0

    async def state(self) -> QueueState:
        self.looks += 1
        return QueueState(
            waiting=sum(self.lanes), oldest_s=self.oldest_s, lanes=self.lanes
        )

    def lane_of(self, tenant: str) -> int:
        return int(tenant)

    async def watch(self) -> None: ...

    async def submit(self, query: QueuedQuery) -> None: ...

    async def claim(self, wait_s: float) -> Claim | None: ...

    async def holds(self, query: QueuedQuery) -> bool:
        return False

    async def remove(self, query: QueuedQuery) -> None: ...

    async def next_dead(self) -> DeadClaim | None: ...

    async def dead(self, limit: int = 100) -> Sequence[DeadQuery]:
        return ()

    async def count_dead(self) -> int:
        return 0


class Time:
    """A clock that stands still."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def _admission(
    queue: StateOfQueue, time: Time, *, places: int = 10, mean_s: float | None = 2.0
) -> QueueAdmission:
    admission = QueueAdmission(queue, most_wait_s=10.0, now=time)
    if places:
        admission.hear(WorkerReport(name="w1", places=places, mean_s=mean_s))
    return admission


async def test_a_question_is_let_in_while_its_wait_is_short() -> None:
    # Ten places and two seconds a query: fifty are claimed within ten seconds, and ten at once.
    admission = _admission(StateOfQueue(25, 25), Time())

    await admission.let_in("0")


async def test_a_question_that_would_wait_too_long_is_refused_and_told_when_to_come() -> (
    None
):
    admission = _admission(StateOfQueue(20, 20, 40), Time())

    with pytest.raises(QueueFullError, match="80 questions wait") as refused:
        await admission.let_in("0")

    assert refused.value.retry_after_s == 6.0


async def test_who_fills_half_of_the_queue_is_refused_and_others_are_not() -> None:
    admission = _admission(StateOfQueue(30, 2), Time())

    with pytest.raises(QueueFullError, match="one too many"):
        await admission.let_in("0")
    await admission.let_in("1")


async def test_what_was_let_in_since_the_last_look_counts() -> None:
    queue = StateOfQueue(0, 58)
    admission = _admission(queue, Time(), places=10)
    queue.lanes = (0, 29, 29)

    await admission.let_in("0")
    await admission.let_in("0")
    with pytest.raises(QueueFullError):
        await admission.let_in("0")

    assert queue.looks == 1


async def test_nobody_is_let_in_behind_one_who_waits_for_longer_than_anybody_should() -> (
    None
):
    queue = StateOfQueue(1, 0)
    queue.oldest_s = 10.5

    # By the reckoning there would be room: ten places, and two seconds a query.
    with pytest.raises(QueueFullError):
        await _admission(queue, Time()).let_in("1")

    queue.lanes = (0, 0)
    await _admission(queue, Time()).let_in("1")


async def test_without_workers_few_wait_and_the_others_are_told_why() -> None:
    await _admission(StateOfQueue(20), Time(), places=0).let_in("0")
    with pytest.raises(QueueFullError, match="no worker has been heard from"):
        await _admission(StateOfQueue(WITHOUT_WORKERS), Time(), places=0).let_in("0")


async def test_a_worker_that_tells_nothing_any_more_has_no_places() -> None:
    time = Time()
    admission = _admission(StateOfQueue(0), time)

    time.now += HEARD_FOR_S + 1

    assert admission.workers() == ()
