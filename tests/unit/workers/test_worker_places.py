"""What a worker takes and when, what is counted of it, and what it leaves behind when it ends."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest
import structlog

from antiphon.cluster import Claim, Wish
from antiphon.vocabulary.errors import BusyError
from antiphon.workers.worker import AGAIN_S
from tests.unit.workers.test_worker import (
    Claims,
    Going,
    HeldClaim,
    Outcome,
    Recorded,
    Reports,
    worker_on,
)
from tests.virtual_time import run


class LostClaim(HeldClaim):
    """A claim that is another's as soon as its query is begun."""

    lasts_s = 0.0


class Broken(Going):
    """A query that does not end, and notes what is done to its session."""

    def __init__(self) -> None:
        super().__init__(held=True)
        self.did: list[str] = []

    def break_off(self) -> None:
        self.did.append("broken off")

    async def stopped(self) -> None:
        self.did.append("waited for")


class Read(Going):
    """A query that somebody reads."""

    query_id = "q1"
    is_followed = False

    async def follow(self) -> AsyncIterator[None]:
        self.is_followed = True
        await asyncio.Event().wait()
        yield


class Lasting(Going):
    """A query that lasts a number of seconds."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def outcome(self) -> Outcome:
        return Outcome(duration_ms=self._seconds * 1000)


class Counted:
    """Notes what is counted."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def claimed(self, deliveries: int) -> None:
        self.noted.append(f"claimed {deliveries}")

    def let_go(self) -> None:
        self.noted.append("let go")

    def lost(self) -> None:
        self.noted.append("lost")

    def given_up(self) -> None:
        self.noted.append("given up")


class Waits(asyncio.Event):
    """Counts how often it is waited for."""

    count = 0

    async def wait(self) -> bool:  # type: ignore[override]  # which says Literal[True]
        self.count += 1
        return await super().wait()


async def let_it_work() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def begun(recorded: Recorded) -> list[str]:
    return [query_id for query_id, _ in recorded.resumed]


async def test_a_worker_takes_no_more_than_it_has_places_for_and_waits_for_one() -> (
    None
):
    queries = {f"q{n}": Going(held=True) for n in range(1, 6)}
    recorded = Recorded(**queries)
    worker = worker_on(Claims(*map(HeldClaim, queries)), recorded)
    worker.stopping = waits = Waits()
    running = asyncio.create_task(worker.run())

    await let_it_work()
    at_first = begun(recorded)
    queries["q2"].let.set()
    await let_it_work()
    then = begun(recorded)
    # Once for each time that it had no place.
    waited = waits.count
    for query in queries.values():
        query.let.set()
    worker.stopping.set()
    await running

    assert (at_first, then) == (["q1", "q2", "q3"], ["q1", "q2", "q3", "q4"])
    assert waited == 2


def test_a_query_that_is_worked_on_alone_has_the_only_place() -> None:
    first, alone, signals = Going(held=True), Going(held=True), Reports()
    recorded = Recorded(q1=first, q2=alone, q3=Going())
    claims = Claims(HeldClaim("q1"), HeldClaim("q2", 3), HeldClaim("q3"))

    async def beside() -> list[str]:
        running = asyncio.create_task(worker_on(claims, recorded, signals).run())
        await let_it_work()
        first.let.set()
        await asyncio.sleep(1.5)
        found = begun(recorded)
        alone.let.set()
        async with asyncio.timeout(10):
            await running
        return found

    assert run(beside()) == ["q1", "q2"]
    assert begun(recorded) == ["q1", "q2", "q3"]
    assert signals.heard[-1].places == 1


@pytest.mark.parametrize(
    ("can_answer", "trouble"), [(False, None), (True, "the servers have no room")]
)
def test_a_worker_that_cannot_answer_or_cannot_store_takes_no_query(
    can_answer: bool, trouble: str | None
) -> None:
    async def left() -> int:
        queue = Claims(HeldClaim("q1"))
        queue.trouble = trouble
        answers = itertools.repeat(can_answer)
        worker = worker_on(queue, Recorded(q1=Going()), can_answer=answers)
        running = asyncio.create_task(worker.run())
        await asyncio.sleep(5.0)
        worker.stopping.set()
        await running
        return len(queue.left)

    assert run(left()) == 1


def test_a_queue_that_cannot_be_reached_is_asked_again_after_a_while() -> None:
    asked_at: list[float] = []

    class Away(Claims):
        async def claim(self, wait_s: float) -> Claim | None:
            asked_at.append(asyncio.get_running_loop().time())
            if len(asked_at) < 3:
                raise BusyError("the servers are away")
            return await super().claim(wait_s)

    run(worker_on(Away(), Recorded()).run())

    assert asked_at == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize(
    ("claim", "query", "counted"),
    [
        (HeldClaim("q1", 2), Going(), ["claimed 2", "let go"]),
        (LostClaim("q1"), Broken(), ["claimed 1", "lost", "let go"]),
    ],
)
async def test_each_claim_is_counted_and_so_is_its_end(
    claim: HeldClaim, query: Going, counted: list[str]
) -> None:
    counts = Counted()

    async with asyncio.timeout(10):
        await worker_on(Claims(claim), Recorded(q1=query), counts=counts).run()

    assert counts.noted == counted


async def test_a_query_whose_claim_is_lost_is_broken_off_and_left_to_the_other() -> (
    None
):
    claim, query = LostClaim("q1"), Broken()

    async with asyncio.timeout(10):
        await worker_on(Claims(claim), Recorded(q1=query)).run()

    assert query.did == ["broken off", "waited for"]
    assert claim.became == []


def test_how_long_queries_last_follows_the_newest_slowly() -> None:
    signals = Reports()
    queries = {"q1": Lasting(2.0), "q2": Lasting(4.0), "q3": Going(held=True)}
    claims = Claims(*map(HeldClaim, queries))

    # As long as the third goes on, it reports.
    run(worker_on(claims, Recorded(**queries), signals, drain_s=1.5).run())

    assert signals.heard[-1].mean_s == pytest.approx(2.2)


@pytest.mark.parametrize("fails", [False, True])
async def test_an_error_of_ours_in_working_on_a_query_is_logged(fails: bool) -> None:
    class Failing(HeldClaim):
        async def done(self) -> None:
            if fails:
                raise RuntimeError("a mistake")

    with structlog.testing.capture_logs() as logs:
        await worker_on(Claims(Failing("q1")), Recorded(q1=Going())).run()

    failed = [each for each in logs if each["event"] == "work_failed"]
    assert len(failed) == fails


async def test_a_query_that_waited_to_be_alone_is_given_back_when_its_worker_stops() -> (
    None
):
    waiting = HeldClaim("q2", 3)
    recorded = Recorded(q1=Going(held=True), q2=Going())
    worker = worker_on(Claims(HeldClaim("q1"), waiting), recorded, drain_s=0.0)
    running = asyncio.create_task(worker.run())

    await let_it_work()
    worker.stopping.set()
    async with asyncio.timeout(10):
        await running

    assert begun(recorded) == ["q1"]
    assert waiting.became == [("given back", 0.0)]


async def test_a_query_that_comes_back_while_it_runs_here_is_left_for_later() -> None:
    first, again = HeldClaim("q1"), HeldClaim("q1", 2)
    query = Going(held=True)
    recorded = Recorded(q1=query)
    running = asyncio.create_task(worker_on(Claims(first, again), recorded).run())

    await let_it_work()
    left = list(again.became)
    query.let.set()
    await running

    assert begun(recorded) == ["q1"]
    assert left == [("given back", AGAIN_S)]
    assert first.became == [("done", 0.0)]


async def test_a_worker_shows_text_that_is_wanted_and_leaves_no_task_behind() -> None:
    # Not in a task of its own, in whose last turn others might end.
    await worker_on(Claims(), Recorded()).run()
    assert asyncio.all_tasks() == {asyncio.current_task()}

    for wants in ("nothing", "text"):
        query, signals = Read(held=True), Reports()
        worker = worker_on(Claims(HeldClaim("q1")), Recorded(q1=query), signals)
        running = asyncio.create_task(worker.run())
        await query.begun.wait()
        if wants == "text":
            assert signals.wish(Wish(query_id="q1", wants="text"))
        await let_it_work()
        query.let.set()
        await running

        assert query.is_followed is (wants == "text")
        assert asyncio.all_tasks() == {asyncio.current_task()}
