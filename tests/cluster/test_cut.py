"""When the network between whole processes is cut, one side goes on, the other refuses, and nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest

from tests.cluster.conftest import QUICK
from tests.cluster.processes import ClusterOf, Node, Process, is_whole, waited
from tests.e2e.conftest import without_traces
from tests.e2e.forking import forking
from tests.e2e.processes import doubling
from tests.integration.test_network_cut import machines, start_servers, url
from tests.network import Network

__all__ = ["machines"]

T = TypeVar("T")
QUESTION = {"query": "What is applemailbox7?"}
REPLY = {"text": "It is a box."}
FIRST_SLOW = {"replies": [REPLY | {"first_byte_s": 8.0, "times": 1}, REPLY], "then": "last"}  # fmt: skip
"""The script of the minority's model: its first call lasts until after the cut."""


class Side:
    """The processes of one side of the cut, on one machine, and a caller there."""

    def __init__(
        self,
        stack: ExitStack,
        network: Network,
        machine: int,
        servers: str,
        script: object,
        index: Path,
        folder: Path,
    ) -> None:
        folder.mkdir()
        on = stack.enter_context(
            forking(lambda *command: network.on(machine, *command))
        )
        model = stack.enter_context(doubling(folder, script, on))
        self.processes = ClusterOf(
            servers,
            without_traces(index, folder),
            model,
            on,
            ANTIPHON_NATS_PREFIX="cut",
            ANTIPHON_NATS_REPLICAS="3",
        )
        stack.callback(self.processes.end)
        self._callers: ThreadPoolExecutor = stack.enter_context(
            network.callers(machine)
        )
        self.worker: Process = self.processes.worker("--health", "0", ready=False)
        self.node: Node = self.processes.node()
        self._health = self.worker.line_with("health at").split("health at ")[1]

    def call(self, ask: Callable[[], T]) -> T:
        """Runs `ask` as a caller on this machine."""
        return self._callers.submit(ask).result()

    def asked(self) -> httpx2.Response:
        return self.call(lambda: self.node.client.post("/api/queries", json=QUESTION))

    def refuses(self) -> httpx2.Response:
        """Waits until the node refuses a question, and returns the refusal."""
        found: httpx2.Response = waited(
            self.asked, lambda reply: reply.status_code == 503
        )
        return found

    def answered(self, query_id: str) -> dict[str, Any]:
        return self.call(lambda: self.node.answered(query_id))

    def answers(self) -> dict[str, Any]:
        """Waits until the node accepts a question, then for its answer, and returns that."""
        reply = waited(self.asked, lambda reply: reply.status_code == 202)
        return self.answered(reply.json()["query_id"])

    def traces(self) -> dict[str, list[dict[str, Any]]]:
        """The events of each trace that the node lists; only callable on its machine."""
        listed = self.node.client.get("/api/traces").json()["traces"]
        ids = [each["query_id"] for each in listed]
        return {query_id: self.node.events(query_id) for query_id in ids}

    def readiness(self, status: int) -> httpx2.Response:
        """Waits until the node's readiness check has this status."""
        found: httpx2.Response = waited(
            lambda: self.call(lambda: self.node.client.get("/readyz")),
            lambda reply: reply.status_code == status,
        )
        return found

    def worker_is(self, status: int) -> None:
        """Waits until the worker's health check has this status."""
        address = self._health.split(";")[0]
        waited(
            lambda: self.call(lambda: httpx2.get(f"{address}/readyz")),
            lambda reply: reply.status_code == status,
        )


@pytest.fixture
def sides(
    machines: Network, index: Path, tmp_path: Path
) -> Iterator[tuple[Side, Side]]:
    """A node and a worker with one server, and the same with two others."""
    with ExitStack() as stack:
        start_servers(stack, machines, tmp_path)
        # In parallel, because each side waits for its processes to start.
        with ThreadPoolExecutor() as starting:
            few = starting.submit(
                Side, stack, machines, 1, url(1), FIRST_SLOW, index, tmp_path / "few"
            )
            many = starting.submit(
                Side, stack, machines, 2, url(2, 3), QUICK, index, tmp_path / "many"
            )
        yield few.result(), many.result()


def test_a_cut_stops_whole_processes_of_the_minority_and_all_traces_are_whole_when_it_is_healed(
    machines: Network, sides: tuple[Side, Side]
) -> None:
    few, many = sides
    # The majority's worker is paused, so that the minority's takes the question.
    many.worker.signal(signal.SIGSTOP)
    begun = few.call(few.node.begin)
    few.call(lambda: few.node.after(begun, "reasoning_started"))

    machines.cut(1)
    many.worker.signal(signal.SIGCONT)
    gone_on_with = many.answered(begun)
    unready = few.readiness(503)
    refused = few.refuses()
    few.worker_is(503)
    few.worker.line_with("claim_lost")
    meanwhile = many.answers()
    kinds = many.call(lambda: many.node.kinds(begun))

    machines.heal(1)
    few.readiness(200)
    few.worker_is(200)
    many.worker.stop()
    healed = few.answers()
    after = few.answered(begun)
    traces = few.call(few.traces)

    error = refused.json()["error"]
    assert (error["code"], "NATS" in error["message"]) == ("busy", True)
    assert int(refused.headers["retry-after"]) >= 1
    assert "NATS" in unready.json()["problems"][0]
    # One by the worker that took the query from the queue, one by the worker that took it over.
    assert kinds.count("query_resumed") == 2
    for answer in (gone_on_with, meanwhile, healed, after):
        assert answer["status"] == "answered"
        assert is_whole(traces[answer["query_id"]])
    for events in traces.values():
        assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
