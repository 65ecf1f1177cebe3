"""While storing is impossible no caller waits for ever, nodes acknowledge nothing, and earlier queries survive."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from antiphon.cluster import Cluster, connect
from tests.cluster.processes import ClusterOf, Node, Process, cluster, is_whole, waited
from tests.e2e.processes import doubling
from tests.nats_servers import addresses_of, nats_cluster

DEADLINE_S = 6.0
CALLERS = 6
THINKS_S = 4.0
SLOW = {"replies": [{"text": "It is a box.", "first_byte_s": THINKS_S}], "then": "last"}
QUESTION = {"query": "What is applemailbox7?", "deadline_s": DEADLINE_S}


class Reply(NamedTuple):
    """The reply that a caller got, and the time it took."""

    status: int
    body: dict[str, object]
    took_s: float


class Asked:
    """A node, and a worker with a health check, over NATS servers; and callers who wait for answers."""

    def __init__(self, processes: ClusterOf, servers: str) -> None:
        self.processes = processes
        self._servers = servers
        self.node: Node = processes.node()
        self.worker: Process = processes.worker("--health", "0")
        line = self.worker.line_with("health at")
        self._health = line.split("health at ")[1].split(";")[0]

    def ask(self) -> Reply:
        began = time.monotonic()
        reply = self.node.client.post("/api/query", json=QUESTION)
        return Reply(reply.status_code, reply.json(), time.monotonic() - began)

    def follow(self) -> Reply:
        """Asks, and follows the stream to its end."""
        began = time.monotonic()
        headers = {"Accept": "text/event-stream"}
        reply = self.node.client.post("/api/query", json=QUESTION, headers=headers)
        *_, last = reply.text.strip().split("\n\n")
        kind, _, data = last.partition("\ndata: ")
        took_s = time.monotonic() - began
        return Reply({"event: error": 503}.get(kind, 200), json.loads(data), took_s)

    def under_way(self, count: int) -> None:
        """Waits until workers have begun `count` questions."""

        def thinking() -> int:
            queries = self.node.client.get("/api/queries").json()["queries"]
            return sum("call-1" in str(each["waiting_for"]) for each in queries)

        waited(thinking, lambda found: found >= count)

    def unready(self) -> tuple[str, str]:
        """Waits until neither node nor worker is ready; returns their reasons."""
        node = waited(
            lambda: self.node.client.get("/readyz"),
            lambda reply: reply.status_code == 503,
        )
        worker = waited(
            lambda: httpx2.get(f"{self._health}/readyz"),
            lambda reply: reply.status_code == 503,
        )
        return " ".join(node.json()["problems"]), worker.text

    def ready(self) -> None:
        """Waits until both are ready."""
        waited(
            lambda: self.node.client.get("/readyz"),
            lambda reply: reply.status_code == 200,
        )
        waited(
            lambda: httpx2.get(f"{self._health}/readyz"),
            lambda reply: reply.status_code == 200,
        )

    def limit(self, max_bytes: int | None) -> None:
        """Limits the stream of traces to `max_bytes` more than it holds; None lifts the limit."""

        async def change(shared: Cluster) -> None:
            info = await shared.jetstream.stream_info(shared.naming.traces_stream)
            limit = -1
            if max_bytes is not None:
                limit = info.state.bytes + max_bytes
            info.config.max_bytes = limit
            await shared.jetstream.update_stream(info.config)

        async def connected() -> None:
            shared = await connect(
                self._servers, name="test", prefix=self.processes.prefix
            )
            try:
                await change(shared)
            finally:
                await shared.close()

        asyncio.run(connected())


@contextmanager
def waiting(asked: Asked) -> Iterator[list[Future[Reply]]]:
    """Callers who wait for the answers to running queries."""
    with ThreadPoolExecutor(CALLERS) as callers:
        replies = [callers.submit(asked.ask) for _ in range(CALLERS - 1)]
        replies.append(callers.submit(asked.follow))
        asked.under_way(CALLERS)
        yield replies


def test_the_node_replies_within_two_seconds_of_the_deadline_when_most_servers_are_lost_in_mid_query(
    index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as stack:
        servers = stack.enter_context(nats_cluster(tmp_path / "nats"))
        model = stack.enter_context(doubling(tmp_path, SLOW))
        urls = addresses_of(servers)
        processes = stack.enter_context(
            cluster(urls, index, model, ANTIPHON_NATS_REPLICAS="3")
        )
        asked = Asked(processes, urls)
        with waiting(asked) as replies:
            query_ids = list_of_running(asked.node)
            for server in servers[1:]:
                server.kill()
            at_once = asked.node.client.post("/api/queries", json=QUESTION)
            told = [each.result() for each in replies]
        said = asked.unready()
        refused = asked.node.client.post("/api/queries", json=QUESTION)
        for server in servers[1:]:
            server.start()
        asked.ready()
        states = [asked.node.answered(each) for each in query_ids]
        traces = [asked.node.events(each) for each in query_ids]

    show(capsys, "most servers lost", told)
    assert {each.status for each in told} == {503}
    assert (at_once.status_code, refused.status_code) == (503, 503)
    for words in (*said, refused.text):
        assert "NATS" in words
        assert "cannot be reached" in words
    # The moment of the loss within a query decides how soon a node is sure that most servers are away. So not every
    # reply gives that reason, but each says how to fetch the answer later.
    for each in told:
        assert "has no answer that is stored by its deadline" in str(each.body)
        assert "GET /api/queries/" in str(each.body)
    assert {each["status"] for each in states} <= {"answered", "partial"}
    assert all(is_whole(each) for each in traces)
    assert max(each.took_s for each in told) < DEADLINE_S + 2


def test_the_node_replies_within_two_seconds_of_the_deadline_when_the_stream_of_traces_is_full(
    nats_url: str, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        doubling(tmp_path, SLOW) as model,
        cluster(nats_url, index, model) as processes,
    ):
        asked = Asked(processes, nats_url)
        with waiting(asked) as replies:
            query_ids = list_of_running(asked.node)
            asked.limit(100)
            at_once = asked.node.client.post("/api/queries", json=QUESTION)
            told = [each.result() for each in replies]
        said = asked.unready()
        refused = asked.node.client.post("/api/queries", json=QUESTION)
        tried = sum("query_taken_over" in each for each in asked.node.process.said)
        claimed = sum("query_not_stored" in each for each in asked.worker.said)
        asked.limit(None)
        asked.ready()
        states = [asked.node.answered(each) for each in query_ids]
        traces = [asked.node.events(each) for each in query_ids]

    show(capsys, f"full; {tried} taken over, {claimed} left by the worker", told)
    assert {each.status for each in told} == {503}
    assert (at_once.status_code, refused.status_code) == (503, 503)
    for words in (*said, *[str(each.body) for each in told], refused.text):
        assert "is full" in words
    assert {each["status"] for each in states} <= {"answered", "partial"}
    assert all(is_whole(each) for each in traces)
    assert tried <= CALLERS
    assert claimed <= CALLERS
    assert max(each.took_s for each in told) < DEADLINE_S + 2


def list_of_running(node: Node) -> list[str]:
    queries = node.client.get("/api/queries").json()["queries"]
    return [str(each["query_id"]) for each in queries]


def show(capsys: pytest.CaptureFixture[str], what: str, told: list[Reply]) -> None:
    # The figures are for a person to read.
    with capsys.disabled():
        times = ", ".join(f"{each.status} after {each.took_s:.1f} s" for each in told)
        print(f"\n{what}, deadline {DEADLINE_S:.0f} s: {times}")  # noqa: T201
