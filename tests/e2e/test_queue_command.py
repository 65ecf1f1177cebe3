"""`antiphon queue`, and what commands say if the NATS servers cannot be used."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from threading import Thread

import pytest

from antiphon.cluster import Cluster, JetStreamQueue, make_streams
from antiphon.cluster.queue_ports import QueuedQuery
from tests.e2e.conftest import Antiphon, Run
from tests.e2e.forking import address
from tests.e2e.processes import run
from tests.nats_servers import NatsServer, free_port, nats_server
from tests.trace_stores import connected

At = Callable[[], AbstractContextManager[str]]
GIVEN_UP_S = 30.0
"""Seconds in which a query is given up at the latest."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with nats_server(tmp_path_factory.mktemp("nats")) as running:
        yield running


async def given_up(cluster: Cluster, queue: JetStreamQueue, query_id: str) -> None:
    """Lists a query as one that was given up, as the sweep does."""
    await queue.submit(QueuedQuery(query_id=query_id, tenant="local"))
    async with asyncio.timeout(GIVEN_UP_S):
        claim = await queue.claim(0.1)
        while claim is None:
            claim = await queue.claim(0.1)
        await claim.give_back(0.0)
        dead = await queue.next_dead()
        while dead is None:
            await queue.claim(0.1)
            dead = await queue.next_dead()
        await dead.bury()


async def test_the_queue_command_shows_what_waits_what_is_worked_on_and_what_was_given_up(
    antiphon: Antiphon, server: NatsServer
) -> None:
    async with connected(server.url) as cluster:
        await make_streams(cluster.jetstream, cluster.naming, 1)
        queue = await JetStreamQueue.open(cluster, 20.0, 1)
        await given_up(cluster, queue, "bad\x1b[31m\nid")
        for query_id in ("q1", "q2", "q3"):
            await queue.submit(QueuedQuery(query_id=query_id, tenant="local"))
        await queue.claim(5.0)
        named = {
            "ANTIPHON_NATS_PREFIX": cluster.naming.prefix,
            "ANTIPHON_CLAIM_S": "20",
            "ANTIPHON_MOST_CLAIMS": "1",
        }

        shown = antiphon("queue", "--queue", server.url, **named)
        told = antiphon("queue", "--json", "--queue", server.url, **named)

    [first, second] = shown.stdout.splitlines()
    assert (shown.returncode, told.returncode) == (0, 0)
    assert first.startswith("2 wait, the oldest for ")
    assert first.endswith("1 are worked on.")
    # What a stranger put there does not reach the terminal.
    assert second.startswith("given up 20")
    assert "taken 1 times: bad" in second
    assert "\x1b" not in second
    queue_state = json.loads(told.stdout)
    assert (queue_state["waiting"], queue_state["claimed"]) == (2, 1)
    assert queue_state["dead"][0]["query_id"] == "bad\x1b[31m\nid"


def test_without_servers_the_queue_command_says_which_setting_names_them(
    antiphon: Antiphon,
) -> None:
    for command in (["queue"], ["worker"]):
        ended = antiphon(*command)

        assert ended.returncode == 1
        assert "ANTIPHON_NATS_URL" in ended.stderr
        assert len(ended.stderr.strip().splitlines()) == 1


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        yield f"nats://user:secret@127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def another_protocol() -> Iterator[str]:
    """A server that speaks, but not as NATS does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:

        def answer() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        Thread(target=answer, daemon=True).start()
        yield f"nats://user:secret@127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


@contextmanager
def nobody() -> Iterator[str]:
    yield f"nats://user:secret@127.0.0.1:{free_port()}"


UNANSWERED: dict[str, tuple[At, list[str]]] = {
    "queue": (nobody, ["queue"]),
    "worker": (nobody, ["worker"]),
    "serve": (nobody, ["serve", "--port", "0"]),
    "silent": (silent, ["queue"]),
    "another protocol": (another_protocol, ["traces", "list"]),
}


@pytest.fixture(scope="module")
def unanswered(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Run]:
    """How these commands end. They wait for five seconds each, and so all at once."""
    folder = tmp_path_factory.mktemp("unanswered")

    def end(at: At, command: list[str]) -> Run:
        with at() as url:
            return run(
                *command, data_dir=data_dir, folder=folder, ANTIPHON_NATS_URL=url
            )

    address()  # begun here, not by each thread for itself
    with ThreadPoolExecutor(len(UNANSWERED)) as threads:
        ending = {name: threads.submit(end, *each) for name, each in UNANSWERED.items()}
        return {name: ended.result() for name, ended in ending.items()}


@pytest.mark.parametrize("name", UNANSWERED)
def test_if_no_nats_server_answers_a_command_says_so_in_a_sentence(
    unanswered: dict[str, Run], name: str
) -> None:
    ended = unanswered[name]

    [sentence] = ended.stderr.strip().splitlines()
    assert ended.returncode == 1
    assert "No NATS server answers at nats://127.0.0.1:" in sentence
    assert "()" not in sentence
    assert "secret" not in ended.stderr


def test_a_server_without_jetstream_is_named_as_one(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    server = NatsServer(tmp_path)
    server.start(jetstream=False)
    try:
        ended = antiphon("queue", "--queue", server.url)
    finally:
        server.stop()

    assert ended.returncode == 1
    assert "has no JetStream" in ended.stderr
    assert "start it with --jetstream" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
