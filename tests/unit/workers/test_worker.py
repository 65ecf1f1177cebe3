"""A worker and its claims: what is acknowledged, what is left to others, and what is worked on alone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import pytest

from antiphon.cluster import (
    Claim,
    ClaimCounts,
    QueryQueue,
    QueuedQuery,
    Signals,
    TraceFollowing,
    Wish,
    WorkerReport,
)
from antiphon.composition import Query
from antiphon.history import History
from antiphon.vocabulary.errors import (
    BusyError,
    NotFoundError,
    ServiceError,
    SupersededError,
    TraceError,
    TraceStateError,
)
from antiphon.workers.worker import AGAIN_S, Worker
from tests.virtual_time import run


class HeldClaim:
    """A claim that notes what becomes of it."""

    lasts_s = 60.0

    def __init__(self, query_id: str, deliveries: int = 1) -> None:
        self.query = QueuedQuery(query_id=query_id, tenant="acme")
        self.deliveries = deliveries
        self.became: list[tuple[str, float]] = []

    async def done(self) -> None:
        self.became.append(("done", 0.0))

    async def give_back(self, delay_s: float = 0.0) -> None:
        self.became.append(("given back", delay_s))

    async def pass_on(self, delay_s: float) -> None:
        self.became.append(("passed on", delay_s))


class Claims:
    """A queue that has some claims, and then stops its worker."""

    def __init__(self, *claims: HeldClaim) -> None:
        self.left = list(claims)
        self.trouble: str | None = None
        self.stop: Callable[[], None] = lambda: None

    async def claim(self, wait_s: float) -> Claim | None:
        if self.left:
            return cast(Claim, self.left.pop(0))
        self.stop()
        await asyncio.sleep(0)
        return None


class Reports:
    """Takes what a worker reports, and hands it wishes."""

    def __init__(self) -> None:
        self.heard: list[WorkerReport] = []
        self.reported = asyncio.Event()
        self.wish: Callable[[Wish], bool] = lambda _: False

    async def hear_wishes(self, hear: Callable[[Wish], bool]) -> None:
        self.wish = hear

    async def report(self, report: WorkerReport) -> None:
        self.heard.append(report)
        self.reported.set()


class Outcome(NamedTuple):
    """How a query ended."""

    duration_ms: float = 2_000.0


class Going:
    """A query that a worker goes on with, and its session: it ends when it is let, or at once."""

    def __init__(
        self,
        *,
        whole: bool = True,
        error: Exception | None = None,
        held: bool = False,
    ) -> None:
        self._whole = whole
        self._error = error
        self.let = asyncio.Event()
        self.begun = asyncio.Event()
        self.cancelled: list[str] = []
        if not held:
            self.let.set()

    async def outcome(self) -> Outcome:
        self.begun.set()
        await self.let.wait()
        if self._error is not None:
            raise self._error
        return Outcome()

    async def is_whole(self) -> bool:
        # The store takes its time.
        for _ in range(20):
            await asyncio.sleep(0)
        return self._whole

    def cancel(self, why: str) -> None:
        self.cancelled.append(why)
        self.let.set()

    def break_off(self) -> None:
        self.let.set()


class Recorded:
    """The recorded queries: what comes of resuming each."""

    def __init__(self, **queries: Going | ServiceError) -> None:
        self._queries = queries
        self.sessions = {
            query_id: query
            for query_id, query in queries.items()
            if isinstance(query, Going)
        }
        self.resumed: list[tuple[str, str]] = []

    async def resume(self, query_id: str, why: str, *, counts_away: bool) -> Query:
        assert counts_away
        self.resumed.append((query_id, why))
        found = self._queries[query_id]
        if isinstance(found, ServiceError):
            raise found
        return cast(Query, found)


def worker_on(
    queue: Claims,
    recorded: Recorded,
    signals: Reports | None = None,
    *,
    most_claims: int = 4,
    drain_s: float = 60.0,
    can_answer: Iterable[bool] = (),
    counts: ClaimCounts | None = None,
) -> Worker:
    answers = iter(can_answer)
    worker = Worker(
        "w1",
        cast(QueryQueue, queue),
        cast(Signals, signals or Reports()),
        counts,
        cast(TraceFollowing, None),
        lambda _: cast(History, recorded),
        cast(Any, recorded.sessions),
        places=3,
        most_claims=most_claims,
        drain_s=drain_s,
        can_answer=lambda: next(answers, True),
    )
    queue.stop = worker.stopping.set
    return worker


@pytest.mark.parametrize(
    ("comes", "became"),
    [
        (Going(), [("done", 0.0)]),
        (Going(error=ServiceError("it failed")), [("done", 0.0)]),
        (Going(whole=False), [("passed on", AGAIN_S)]),
        (Going(error=SupersededError("q1", 1, 2)), []),
        (NotFoundError("it was deleted"), [("done", 0.0)]),
        (TraceStateError("it is over"), [("done", 0.0)]),
        (TraceError("it cannot be read"), [("passed on", AGAIN_S)]),
        (BusyError("not now"), [("given back", AGAIN_S)]),
    ],
    ids=[
        "over",
        "failed",
        "not stored",
        "another's",
        "deleted",
        "was over",
        "not readable",
        "busy",
    ],
)
async def test_a_claim_ends_as_its_query_does(
    comes: Going | ServiceError, became: list[tuple[str, float]]
) -> None:
    claim = HeldClaim("q1")
    worker = worker_on(Claims(claim), Recorded(q1=comes))

    await worker.run()

    assert claim.became == became
    assert worker.running == 0


@pytest.mark.parametrize(
    ("deliveries", "why"),
    [
        (1, "a worker took it from the queue"),
        (2, "the worker that had it is gone, or was stopped"),
    ],
)
async def test_the_trace_says_why_it_is_gone_on_with(deliveries: int, why: str) -> None:
    recorded = Recorded(q1=Going())

    await worker_on(Claims(HeldClaim("q1", deliveries)), recorded).run()

    assert recorded.resumed == [("q1", why)]


@pytest.mark.parametrize(
    ("deliveries", "most_claims", "is_alone"),
    [(2, 4, False), (3, 4, True), (2, 2, True)],
)
async def test_a_query_that_may_end_its_worker_is_worked_on_alone(
    deliveries: int, most_claims: int, is_alone: bool
) -> None:
    first, second = Going(held=True), Going()
    recorded = Recorded(q1=first, q2=second, q3=Going())
    claims = Claims(HeldClaim("q1"), HeldClaim("q2", deliveries), HeldClaim("q3"))
    worker = worker_on(claims, recorded, most_claims=most_claims)

    running = asyncio.create_task(worker.run())
    await first.begun.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    begun = [query_id for query_id, _ in recorded.resumed]
    first.let.set()
    await running

    assert begun == (["q1"] if is_alone else ["q1", "q2", "q3"])
    assert {query_id for query_id, _ in recorded.resumed} == {"q1", "q2", "q3"}


async def test_whoever_asked_can_end_a_query_that_runs_here() -> None:
    going, signals = Going(held=True), Reports()
    worker = worker_on(Claims(HeldClaim("q1")), Recorded(q1=going), signals)
    running = asyncio.create_task(worker.run())
    await going.begun.wait()

    heard = signals.wish(Wish(query_id="q1", wants="end", why="enough"))
    elsewhere = signals.wish(Wish(query_id="q2", wants="end", why="enough"))
    await running

    assert (heard, elsewhere, going.cancelled) == (True, False, ["enough"])


async def test_a_worker_reports_itself_and_one_that_cannot_answer_has_no_places() -> (
    None
):
    heard: list[WorkerReport] = []
    tasks = asyncio.all_tasks()
    for can_answer in (True, False):
        queue, signals = Claims(), Reports()
        worker = worker_on(queue, Recorded(), signals, can_answer=[can_answer] * 9)
        queue.stop = lambda: None
        running = asyncio.create_task(worker.run())
        await signals.reported.wait()
        worker.stopping.set()
        await running
        heard += signals.heard
    await asyncio.sleep(0)

    assert asyncio.all_tasks() == tasks
    assert [(each.name, each.places) for each in heard] == [("w1", 3), ("w1", 0)]


def test_a_worker_reports_how_long_its_queries_last_once_one_has_ended() -> None:
    signals = Reports()
    claims = Claims(HeldClaim("q1"), HeldClaim("q2"))
    recorded = Recorded(q1=Going(), q2=Going(held=True))

    # It waits for the second, and reports every second meanwhile.
    run(worker_on(claims, recorded, signals, drain_s=1.5).run())

    assert [report.mean_s for report in signals.heard] == [None, 2.0]


async def test_what_has_not_ended_when_a_worker_stops_is_given_back_at_once() -> None:
    claim = HeldClaim("q1")
    recorded = Recorded(q1=Going(held=True, whole=False))

    async with asyncio.timeout(10):
        await worker_on(Claims(claim), recorded, drain_s=0.0).run()

    assert claim.became == [("given back", 0.0)]


def test_a_worker_is_ready_once_it_can_answer_while_it_can_store_until_it_stops() -> (
    None
):
    queue = Claims()
    worker = worker_on(queue, Recorded(), can_answer=[False, True])

    ready = [worker.ready, worker.ready]
    queue.trouble = "the servers have no room"
    ready.append(worker.ready)
    queue.trouble = None
    ready.append(worker.ready)
    worker.stopping.set()
    ready.append(worker.ready)

    assert ready == [False, True, False, True, False]
