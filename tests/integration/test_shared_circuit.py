"""Failures of any process keep all of them from the provider, and after a rest one query of one process probes it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import pytest

from antiphon.cluster import LateConnection, SharedCircuit, SharedValue
from antiphon.coordinator import ProviderCircuit
from antiphon.vocabulary.circuit import Circuit
from tests.nats_servers import NatsServer, free_port, give_up_soon, nats_server

WITHIN_S = 20.0
REST_S = 30.0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as started:
        yield started


class Process:
    """One process's circuit, over a connection of its own."""

    def __init__(self, url: str, key: str) -> None:
        self._connection = LateConnection(url, name="circuit")
        shared = SharedValue(self._connection, key, Circuit)
        self.holder = SharedCircuit(shared, Circuit(rest_s=REST_S), look_s=0.05)
        self.circuit = ProviderCircuit(holder=self.holder)

    async def close(self) -> None:
        await self.holder.close()
        await self._connection.close()


async def until(holds: Callable[[], bool]) -> None:
    limit = time.monotonic() + WITHIN_S
    while not holds():
        assert time.monotonic() < limit
        await asyncio.sleep(0.02)


async def test_failures_of_two_processes_keep_out_a_third_and_one_probes(
    server: NatsServer,
) -> None:
    processes = [Process(server.url, "circuit.three") for _ in range(3)]
    first, second, third = (each.circuit for each in processes)
    assert not third.keeps_out(100.0)

    for _ in range(3):
        first.failed(100.0)
    for _ in range(2):
        second.failed(100.0)
    await until(lambda: all(each.circuit.is_open for each in processes))
    assert third.keeps_out(101.0)

    # The rest is over: the first to ask is kept out once more, while the processes agree who may probe.
    later = 100.0 + REST_S + 1
    assert all(each.circuit.keeps_out(later) for each in processes)
    let_through: list[Process] = []
    for _ in range(40):
        let_through += [each for each in processes if not each.circuit.keeps_out(later)]
        await asyncio.sleep(0.02)
    assert len(let_through) == 1

    let_through[0].circuit.succeeded()
    await until(lambda: not any(each.circuit.is_open for each in processes))
    for each in processes:
        await each.close()


async def test_without_servers_a_process_goes_by_its_own_circuit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    give_up_soon(monkeypatch)
    process = Process(f"nats://127.0.0.1:{free_port()}", "circuit.away")

    for _ in range(5):
        process.circuit.failed(100.0)
    assert process.circuit.keeps_out(101.0)
    await until(lambda: not process.circuit.keeps_out(100.0 + REST_S + 1))
    process.circuit.succeeded()
    assert not process.circuit.is_open
    await process.close()


async def test_a_stored_value_that_is_not_a_circuit_counts_for_nothing(
    server: NatsServer,
) -> None:
    connection = LateConnection(server.url, name="hostile")
    forged = SharedValue(connection, "circuit.forged", dict[str, object])
    await forged.change(lambda _: {"failures": "many", "rest_s": []})
    process = Process(server.url, "circuit.forged")

    process.circuit.failed(100.0)
    await until(lambda: process.holder.value.failures == 1)
    await asyncio.sleep(0.2)
    assert process.holder.value.failures == 1
    await process.close()
    await connection.close()
