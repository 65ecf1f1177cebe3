"""More callers than the service can serve, callers that do not read, and a service that stops: the small form.

`make -f benchmarks/Makefile soak` measures a large one.
"""

from __future__ import annotations

import json
import signal
import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from tests.e2e.conftest import STARTING_S, Server, serving, without_traces

ASKED = {"query": "What is applemailbox7 in the Apple course?"}
PLACES = 2
CALLERS = 10
READERS = 40
IDLE = 60


@contextmanager
def full(data_dir: Path, folder: Path, model: str) -> Iterator[Server]:
    """A service with two places, whose model never answers."""
    with serving(
        without_traces(data_dir, folder),
        folder,
        ANTHROPIC_BASE_URL=model,
        ANTIPHON_CITATIONS="inline",
        ANTIPHON_CONCURRENT_QUERIES=str(PLACES),
    ) as running:
        yield running


def test_five_times_as_many_callers_as_places_learn_at_once_when_to_come_again(
    data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    def ask(url: str) -> httpx2.Response:
        # Those that are let in end by their deadline, long after the others were refused.
        question = ASKED | {"deadline_s": 4.0}
        return httpx2.post(f"{url}/api/query", json=question, timeout=STARTING_S)

    with full(data_dir, tmp_path, silent_model) as server:
        with ThreadPoolExecutor(CALLERS) as pool:
            replies = list(pool.map(ask, [server.url] * CALLERS))
        alive = httpx2.get(f"{server.url}/healthz")

    refused = [reply for reply in replies if reply.status_code == 503]
    admitted = [reply for reply in replies if reply.status_code == 200]
    assert Counter(reply.status_code for reply in replies) == {
        200: PLACES,
        503: CALLERS - PLACES,
    }
    assert max(reply.elapsed for reply in refused) < min(
        reply.elapsed for reply in admitted
    )
    for reply in refused:
        again = reply.headers["Retry-After"]
        assert int(again) >= 1
        assert reply.json()["error"]["code"] == "busy"
        assert f"ask again in {again} s" in reply.json()["error"]["message"]
    assert alive.status_code == 200


def test_the_service_tells_followers_that_a_query_outlives_it(
    data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    with full(data_dir, tmp_path, silent_model) as server:
        query_id = _left_with_a_key(server)
        with httpx2.stream(
            "GET", f"{server.url}/api/traces/{query_id}/events", timeout=STARTING_S
        ) as followed:
            lines = followed.iter_lines()
            first = next(lines)
            server.process.send_signal(signal.SIGTERM)
            told = [line for line in lines if line]
        code = server.process.wait(STARTING_S)

    assert first == "event: query_received"
    assert told[-2] == "event: stopping"
    error = json.loads(told[-1].removeprefix("data: "))["error"]
    assert error["code"] == "stopping"
    assert "Last-Event-ID" in error["message"]
    assert code == 0


def test_streams_that_nobody_reads_and_idle_connections_leave_the_others_alone(
    server: Server, client: httpx2.Client
) -> None:
    query_id = client.post("/api/query", json=ASKED).json()["query_id"]
    place = urlsplit(server.url)
    follow = f"GET /api/traces/{query_id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
    crowd: list[socket.socket] = []
    for number in range(READERS + IDLE):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        connection.connect((place.hostname, place.port))
        if number < READERS:
            connection.sendall(follow.encode())
        crowd.append(connection)

    replies = [client.post("/api/query", json=ASKED) for _ in range(3)]

    assert [reply.status_code for reply in replies] == [200, 200, 200]
    assert {reply.json()["status"] for reply in replies} == {"answered"}
    for connection in crowd:
        connection.close()


def _left_with_a_key(server: Server) -> str:
    """The id of a query that goes on though its caller went away: it was asked with an `Idempotency-Key`."""
    with httpx2.stream(
        "POST",
        f"{server.url}/api/query",
        json=ASKED,
        headers={"accept": "text/event-stream", "idempotency-key": "left"},
        timeout=STARTING_S,
    ) as begun:
        for line in begun.iter_lines():
            if line.startswith("data: "):
                query_id: str = json.loads(line.removeprefix("data: "))["query_id"]
                return query_id
    raise AssertionError("the stream brought no event")
