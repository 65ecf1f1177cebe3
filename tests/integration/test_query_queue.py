"""The queue of queries over a real NATS server: submitted once, claimed in turn, kept, given back, given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from antiphon.cluster import Cluster, JetStreamQueue, NatsSignals, make_streams
from antiphon.cluster.claiming import Claims, JetStreamClaim
from antiphon.cluster.queue_ports import QueuedQuery, Wish, WorkerReport
from antiphon.vocabulary.errors import BusyError
from antiphon.workers.claim_renewal import until_lost
from tests.nats_servers import NatsServer, nats_server
from tests.trace_stores import connected

CLAIM_S = 0.6


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    """A NATS server for the tests of this file."""
    with nats_server(tmp_path_factory.mktemp("queue")) as running:
        yield running


@asynccontextmanager
async def _queue(
    server: NatsServer, most_claims: int = 5
) -> AsyncIterator[tuple[Cluster, JetStreamQueue]]:
    async with connected(server.url) as cluster:
        await make_streams(cluster.jetstream, cluster.naming, 1)
        yield cluster, await JetStreamQueue.open(cluster, CLAIM_S, most_claims)


def _query(query_id: str, tenant: str = "local") -> QueuedQuery:
    return QueuedQuery(query_id=query_id, tenant=tenant)


async def _claimed(queue: JetStreamQueue) -> JetStreamClaim:
    async with asyncio.timeout(20):
        while True:
            claim = await queue.claim(0.2)
            if claim is not None:
                return claim


async def test_a_query_that_is_submitted_twice_is_claimed_once(
    server: NatsServer,
) -> None:
    async with _queue(server) as (_, queue):
        await queue.submit(_query("q1"))
        await queue.submit(_query("q1"))

        claim = await _claimed(queue)
        await queue.submit(_query("q1"))
        await claim.done()

        assert (claim.query, claim.deliveries) == (_query("q1"), 1)
        assert await queue.claim(0.1) is None
        assert not await queue.holds(_query("q1"))


async def test_a_query_that_was_over_can_be_submitted_again(server: NatsServer) -> None:
    async with _queue(server) as (_, queue):
        await queue.submit(_query("q1"))
        await (await _claimed(queue)).done()

        await queue.submit(_query("q1"))

        assert (await _claimed(queue)).query == _query("q1")


async def test_tenants_of_different_lanes_are_served_in_turn(
    server: NatsServer,
) -> None:
    async with _queue(server) as (_, queue):
        other = next(
            f"t{number}"
            for number in range(100)
            if queue.lane_of(f"t{number}") != queue.lane_of("flood")
        )
        for number in range(20):
            await queue.submit(_query(f"flood-{number}", "flood"))
        for number in range(3):
            await queue.submit(_query(f"other-{number}", other))

        first = [(await _claimed(queue)).query.tenant for _ in range(6)]

        assert first.count(other) == 3


async def test_a_claim_that_is_given_back_is_claimed_at_once_and_one_that_is_kept_by_nobody_else(
    server: NatsServer,
) -> None:
    async with _queue(server) as (_, queue):
        await queue.submit(_query("q1"))
        claim = await _claimed(queue)
        await claim.give_back()
        again = await _claimed(queue)
        keeping = asyncio.create_task(until_lost(again))
        ends_at = time.monotonic() + 3 * CLAIM_S
        others: list[object] = []
        while time.monotonic() < ends_at:
            others.append(await queue.claim(0.1))
        keeping.cancel()

        assert again.deliveries == 2
        assert set(others) == {None}
        assert (await _claimed(queue)).deliveries == 3


async def test_a_query_that_is_claimed_too_often_is_dead_listed_and_out_of_the_queue(
    server: NatsServer,
) -> None:
    async with _queue(server, most_claims=2) as (_, queue):
        await queue.submit(_query("q1", "acme"))
        for _ in range(2):
            await _claimed(queue)
        async with asyncio.timeout(20):
            while (dead := await queue.next_dead()) is None:
                await queue.claim(0.05)
        await dead.bury()

        [listed] = await queue.dead()
        assert await queue.count_dead() == 1
        assert (dead.query, dead.deliveries) == (_query("q1", "acme"), 2)
        assert (listed.query_id, listed.tenant, listed.deliveries) == ("q1", "acme", 2)
        assert not await queue.holds(_query("q1", "acme"))
        assert await queue.next_dead() is None


async def test_a_query_that_is_passed_on_is_never_dead_however_often(
    server: NatsServer,
) -> None:
    async with _queue(server, most_claims=2) as (_, queue):
        await queue.submit(_query("q1"))
        for _ in range(5):
            await (await _claimed(queue)).pass_on(0.01)

        claim = await _claimed(queue)

        assert claim.query == _query("q1")
        assert await queue.next_dead() is None
        await claim.done()


async def test_a_claim_ignores_fields_that_a_newer_program_adds(
    server: NatsServer,
) -> None:
    async with _queue(server) as (cluster, queue):
        subject = cluster.naming.query("local", "q1")
        newer = b'{"query_id": "q1", "tenant": "local", "key_id": "k", "newer": 1}'
        await cluster.jetstream.publish(subject, newer)

        claim = await _claimed(queue)

        assert claim.query == QueuedQuery(query_id="q1", tenant="local", key_id="k")


async def test_the_state_shows_what_waits_what_is_claimed_and_since_when(
    server: NatsServer,
) -> None:
    async with _queue(server) as (_, queue):
        for number in range(3):
            await queue.submit(_query(f"q{number}", "acme"))
        await _claimed(queue)
        state = await queue.state()

        assert (state.waiting, state.claimed) == (2, 1)
        assert state.lanes[queue.lane_of("acme")] == 2
        assert 0 < state.oldest_s < 60


async def test_the_queue_skips_a_message_that_is_not_a_query(
    server: NatsServer,
) -> None:
    async with _queue(server) as (cluster, queue):
        subject = cluster.naming.query("local", "hostile")
        await cluster.jetstream.publish(subject, b'{"query_id": 7, "run": "rm"}')
        await queue.submit(_query("q1"))

        assert (await _claimed(queue)).query == _query("q1")


async def test_a_queue_that_cannot_be_reached_says_so(server: NatsServer) -> None:
    async with _queue(server) as (cluster, queue):
        await queue.submit(_query("q1"))
        claim = await _claimed(queue)
        await cluster.client.close()

        with pytest.raises(BusyError, match="nothing is answered that cannot be"):
            await queue.submit(_query("q2"))
        # All of its time passes before it counts as lost: until then it can be nobody else's.
        async with asyncio.timeout(20):
            await until_lost(claim)


async def test_wishes_reach_the_process_that_works_on_the_query_and_nobody_believes_false_ones(
    server: NatsServer,
) -> None:
    heard: list[Wish] = []

    def hear(wish: Wish) -> bool:
        heard.append(wish)
        return wish.query_id == "mine"

    async with _queue(server) as (cluster, _):
        signals = NatsSignals(cluster)
        await signals.hear_wishes(hear)
        mine = Wish(query_id="mine", wants="end", why="x" * 1000)
        await cluster.client.publish(cluster.naming.control("other"), b"no wish")
        await cluster.client.publish(
            cluster.naming.control("other"), b'{"query_id":"mine","wants":"end"}'
        )
        found = await signals.wish(mine)
        missing = await signals.wish(Wish(query_id="nobodys", wants="text"))

        assert (found, missing) == (True, False)
        assert [(each.query_id, len(each.why)) for each in heard] == [
            ("mine", 300),
            ("nobodys", 0),
        ]


async def test_a_workers_report_reaches_those_who_listen(server: NatsServer) -> None:
    heard: asyncio.Queue[WorkerReport] = asyncio.Queue()
    async with _queue(server) as (cluster, _):
        signals = NatsSignals(cluster)
        await signals.hear_reports(heard.put_nowait)
        report = WorkerReport(name="w1", places=4, mean_s=2.5)
        await signals.report(report)

        async with asyncio.timeout(20):
            assert await heard.get() == report


async def test_the_queue_does_not_ask_a_lane_again_that_has_given_its_last_query(
    server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    claim_in = Claims.claim_in

    async def noted(self: Claims, lane: int) -> JetStreamClaim | None:
        asked.append(lane)
        return await claim_in(self, lane)

    monkeypatch.setattr(Claims, "claim_in", noted)
    async with connected(server.url) as cluster:
        await make_streams(cluster.jetstream, cluster.naming, 1)
        # The next look that it takes by itself is far away.
        queue = await JetStreamQueue.open(cluster, 1_000.0)
        for number in range(3):
            await queue.submit(_query(f"q{number}"))
        for _ in range(3):
            await _claimed(queue)

        assert await queue.claim(0.0) is None
        assert asked.count(queue.lane_of("local")) == 3


async def test_queries_of_a_worker_that_is_gone_are_claimed_one_after_the_other(
    server: NatsServer,
) -> None:
    async with _queue(server) as (_, queue):
        await queue.submit(_query("q1"))
        await queue.submit(_query("q2"))
        for _ in range(2):
            await _claimed(queue)

        again = [(await _claimed(queue)).query.query_id for _ in range(2)]

        assert sorted(again) == ["q1", "q2"]
