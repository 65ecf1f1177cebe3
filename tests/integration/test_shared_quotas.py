"""Limits and keys over several nodes with folders of their own, on a real NATS server."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest

from antiphon.access.ledgers import UnderWay
from antiphon.access.metering import KeyMetering, count_earlier
from antiphon.access.usage import Spent
from antiphon.cluster import LateConnection, SharedState
from antiphon.composition import Allowance, Need, Query
from antiphon.composition.spending import Charge
from antiphon.service import AccessFile, Keys, Limits, Quotas
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import (
    BusyError,
    NotFoundError,
    QuotaError,
    SupersededError,
    UnauthorizedError,
)
from antiphon.vocabulary.values import Usage
from antiphon.workers.shared_access import shared_access
from antiphon.workers.shared_ledger import OTHERS_S, SharedLedger
from tests.fakes import MemoryTraceStore
from tests.nats_servers import NatsServer, free_port, give_up_soon, nats_server

CALLER = Principal(tenant="acme", scopes=frozenset(), key_id="k")
COLLEAGUE = Principal(tenant="acme", scopes=frozenset(), key_id="other")
WANT, LEAST = Allowance(1_000, 0.1), Allowance(100, 0.01)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as started:
        yield started


class Nodes:
    """Nodes of one installation, each with a folder and a connection of its own."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self._prefix = f"t{uuid.uuid4().hex[:12]}"
        self._files: list[AccessFile] = []
        self._connections: list[LateConnection] = []

    def state(self) -> SharedState:
        connection = LateConnection(self._url, name="node", prefix=self._prefix)
        self._connections.append(connection)
        return SharedState(connection)

    def file(self) -> AccessFile:
        file = AccessFile(self._folder / f"node{len(self._files)}", 5_000)
        self._files.append(file)
        return file

    def quotas(self, ahead_s: float = 0.0) -> Quotas:
        ledger = SharedLedger(self.state())
        return Quotas(self.file(), lambda: time.time() + ahead_s, ledger)

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
        for file in self._files:
            file.close()


@asynccontextmanager
async def nodes(server: NatsServer, folder: Path) -> AsyncIterator[Nodes]:
    made = Nodes(server.url, folder)
    try:
        yield made
    finally:
        await made.close()


async def passed(quotas: Quotas, caller: Principal, query_id: str) -> bool:
    try:
        await quotas.reserve(caller, query_id, WANT, LEAST)
    except QuotaError:
        return False
    return True


async def test_as_many_of_forty_questions_on_two_nodes_pass_as_the_tenant_has_left(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        both = [site.quotas(), site.quotas()]
        for quotas in both:
            quotas.limit("tenant", "acme", Limits(requests=7))
        callers = (CALLER, COLLEAGUE)
        let_in = await asyncio.gather(
            *[passed(both[n % 2], callers[n // 2 % 2], f"q{n}") for n in range(40)]
        )
        reports = [await quotas.report(CALLER) for quotas in both]

    assert sum(let_in) == 7
    assert reports[0] == reports[1]
    assert reports[0].shares[1].used.requests == 7


async def test_nodes_count_queries_at_once_together_and_a_place_is_free_when_its_query_ends_anywhere(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        first, second = site.quotas(), site.quotas()
        for quotas in (first, second):
            quotas.limit("key", "k", Limits(at_once=2))
        let_in = [
            await passed(first, CALLER, "q1"),
            await passed(second, CALLER, "q2"),
            await passed(first, CALLER, "q3"),
            await passed(second, CALLER, "q4"),
        ]
        # By a node that did not let it in, and once more by the one that did.
        await second.settle(CALLER, "q1", Spent(tokens=400))
        await first.settle(CALLER, "q1", Spent(tokens=400))
        again = await passed(first, CALLER, "q5")
        [of_key, _] = (await second.report(CALLER)).shares

    assert let_in == [True, True, False, False]
    assert again
    assert (of_key.used.requests, of_key.used.tokens, of_key.at_once) == (3, 400, 2)


async def test_tokens_set_aside_on_one_node_are_not_left_on_another(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        first, second = site.quotas(), site.quotas()
        for quotas in (first, second):
            quotas.limit("tenant", "acme", Limits(tokens=1_500))
        granted = [
            await first.reserve(CALLER, "q1", WANT, LEAST),
            await second.reserve(COLLEAGUE, "q2", WANT, LEAST),
        ]
        with pytest.raises(QuotaError, match="its queries under way may take the rest"):
            await first.reserve(CALLER, "q3", WANT, LEAST)
        await first.settle(CALLER, "q1", None)
        await second.settle(COLLEAGUE, "q2", Spent(is_known=False))
        [_, of_tenant] = (await first.report(CALLER)).shares

    assert [each.tokens for each in granted] == [1_000, 500]
    assert (of_tenant.used.requests, of_tenant.used.tokens) == (1, 500)


async def test_a_query_of_a_node_that_is_gone_is_found_by_the_others_after_a_while(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        gone, other = site.quotas(-OTHERS_S - 1), site.quotas()
        await gone.reserve(CALLER, "old", WANT, LEAST)
        await other.reserve(CALLER, "new", WANT, LEAST)
        found = await other.under_way()
        key_id = await other.key_under_way(CALLER, "old")

    assert [(each.query_id, each.tenant) for each in found] == [("old", "acme")]
    assert key_id == "k"


async def until_settled(quotas: Quotas, query_id: str) -> None:
    until = time.monotonic() + 20
    while await quotas.key_under_way(CALLER, query_id):
        assert time.monotonic() < until
        await asyncio.sleep(0.02)


class Ended:
    """A query that was let in elsewhere, and is over."""

    query_id = "old"
    is_over = True

    async def outcome(self) -> object:
        return None

    def charges(self, *, paid_too: bool = False) -> Sequence[Charge]:
        assert paid_too
        return [Usage(input_tokens=400, output_tokens=50)]


async def test_the_use_of_a_query_of_a_node_that_is_gone_is_counted_once(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        gone = site.quotas(-OTHERS_S - 1)
        await gone.reserve(CALLER, "old", WANT, LEAST)
        looking: list[asyncio.Task[None]] = []
        others = [site.quotas(), site.quotas()]
        for quotas in others:

            def find(query: UnderWay) -> tuple[Principal, Query]:
                return CALLER, cast(Query, Ended())

            looks = count_earlier(quotas, KeyMetering(quotas, MemoryTraceStore()), find)
            looking.append(asyncio.create_task(looks))
        await until_settled(others[0], "old")
        for task in looking:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
        [of_key, _] = (await others[1].report(CALLER)).shares

    assert (of_key.used.requests, of_key.used.tokens, of_key.at_once) == (1, 450, 0)


class Deleted:
    """A query whose trace was deleted under way, at a node that has heard of one of its calls."""

    query_id = "old"
    is_over = False

    def __init__(self, ending: Exception) -> None:
        self._ending = ending

    async def outcome(self) -> object:
        raise self._ending

    def charges(self, *, paid_too: bool = False) -> Sequence[Charge]:
        del paid_too
        return [Usage(input_tokens=400, output_tokens=50)]


@pytest.mark.parametrize(
    "ending", [SupersededError("old", 1, 2), NotFoundError("no such trace")]
)
async def test_a_caller_who_deletes_the_running_query_pays_what_was_set_aside_for_it(
    server: NatsServer, tmp_path: Path, ending: Exception
) -> None:
    async with nodes(server, tmp_path) as site:
        quotas = site.quotas()
        metering = KeyMetering(quotas, MemoryTraceStore())
        want = Need(WANT.tokens or 0, WANT.cost_usd or 0.0, LEAST)
        async with metering.let_in(CALLER, "old", want):
            metering.watch(CALLER, cast(Query, Deleted(ending)))
        await metering.close()
        [of_key, _] = (await quotas.report(CALLER)).shares

    assert (of_key.used.requests, of_key.used.tokens) == (1, WANT.tokens)
    assert of_key.at_once == 0


async def test_if_the_servers_do_not_answer_a_node_lets_nothing_in_that_it_cannot_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up_soon(monkeypatch)
    away = Nodes(f"nats://127.0.0.1:{free_port()}", tmp_path)
    quotas = away.quotas()

    with pytest.raises(BusyError, match="nothing is spent"):
        await quotas.reserve(CALLER, "q1", WANT, LEAST)
    await away.close()


async def test_all_nodes_share_keys_and_limits_and_a_revoked_key_stays_revoked(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        files = [site.file(), site.file()]
        first, second = (shared_access(file, site.state()) for file in files)
        here, there = (Keys(file) for file in files)
        key, info = here.add("web", "acme", ["ask"])
        Quotas(files[0]).limit("tenant", "acme", Limits(requests=5))
        await first.sync()
        await second.sync()
        known = there.principal(key)
        limits = Quotas(files[1]).limits("tenant", "acme")
        rotated, _ = there.rotate("web")
        await second.sync()
        await first.sync()
        after = here.principal(rotated)
        with pytest.raises(UnauthorizedError):
            here.principal(key)
        # Both change the key at the same time, and one of them revokes it.
        here.revoke("web")
        there.rotate("web")
        for each in (second, first, second):
            await each.sync()
        states = [keys.find(info.key_id).state(time.time()) for keys in (here, there)]

    assert known.tenant == after.tenant == "acme"
    assert limits == Limits(requests=5)
    assert states == ["revoked", "revoked"]


async def test_a_node_gives_the_keys_to_servers_that_have_lost_them(
    server: NatsServer, tmp_path: Path
) -> None:
    async with nodes(server, tmp_path) as site:
        file = site.file()
        key, _ = Keys(file).add("web", "acme", ["ask"])
        await shared_access(file, site.state()).sync()
        bare = Nodes(server.url, tmp_path / "elsewhere")
        await shared_access(file, bare.state()).sync()
        newcomer = bare.file()
        await shared_access(newcomer, bare.state()).sync()
        known = Keys(newcomer).principal(key)
        await bare.close()

    assert known.tenant == "acme"
