"""A caller that goes away, on a service whose model never answers."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.e2e.conftest import Server


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_a_client_that_goes_away_cancels_its_query_and_the_trace_says_so(stuck_server: Server, accept: str) -> None:
    with httpx2.Client(base_url=stuck_server.url) as client:
        place = urlsplit(stuck_server.url)
        caller = socket.create_connection((place.hostname or "", place.port or 0))
        caller.sendall(_question(accept))
        query_id = _running(client, 1)[0]

        caller.close()
        _running(client, 0)

        events = client.get(f"/api/traces/{query_id}").json()["events"]
    kinds = [event["event"]["kind"] for event in events]
    cancelled = kinds.index("query_cancelled")
    assert events[cancelled]["event"]["why"] == "the client went away"
    assert kinds[-1] == "query_closed"
    assert events[-1]["event"]["status"] == "cancelled"


def test_a_query_under_way_says_whom_it_waits_for_and_ends_with_the_service(stuck_server: Server) -> None:
    with httpx2.Client(base_url=stuck_server.url, timeout=30) as client:
        with client.stream("POST", "/api/query", json={"query": "x"}, headers={"accept": "text/event-stream"}) as told:
            lines = told.iter_lines()
            first = next(filter(lambda line: line.startswith("data:"), lines))
            query_id = json.loads(first.removeprefix("data:"))["query_id"]
            queries = client.get("/api/queries").json()["queries"]
        _running(client, 0)

    assert query_id in [query["query_id"] for query in queries]
    assert queries[0]["waiting_for"]


def _question(accept: str) -> bytes:
    body = json.dumps({"query": "Is anybody there?"}).encode()
    head = (
        "POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: {accept}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _running(client: httpx2.Client, wanted: int) -> list[str]:
    """The queries under way, asked for until there are as many as wanted; the test's own time limit ends it."""
    for _ in range(5_000):
        queries = client.get("/api/queries").json()["queries"]
        if len(queries) == wanted:
            return [query["query_id"] for query in queries]
    raise AssertionError(f"there are still {len(queries)} queries under way")
