"""A caller that goes away, on a service whose model never answers."""

from __future__ import annotations

import json
import signal
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from tests.e2e.conftest import Antiphon, Server, without_traces
from tests.e2e.processes import started

JSON = "application/json"
STREAM = "text/event-stream"
GONE = "the client went away"
STOPPING = "the service is stopping"


@pytest.fixture
def data_dir(data_dir: Path, tmp_path: Path) -> Path:
    """The two courses without traces: these tests count the queries under way."""
    return without_traces(data_dir, tmp_path)


def test_a_client_that_goes_away_cancels_its_query_and_a_stopping_service_ends_the_others(
    stuck_server: Server, antiphon: Antiphon
) -> None:
    with httpx2.Client(base_url=stuck_server.url) as client:
        gone = [_left_query(client, stuck_server, accept) for accept in (JSON, STREAM)]
        callers = [_calling(stuck_server, accept) for accept in (JSON, STREAM)]
        under_way = _running(client, 2)

    code = stuck_server.stop()

    assert code == 0
    assert "Traceback" not in "".join(stuck_server.said)
    for query_id, why in [
        *((each, GONE) for each in gone),
        *((each, STOPPING) for each in under_way),
    ]:
        end = _end_of(antiphon, query_id)
        assert end == (why, "cancelled"), stuck_server.said
    replies = [_rest_of(caller) for caller in callers]
    assert all(b'"status":"cancelled"' in reply for reply in replies)
    # What came before the answer of a stream cannot be taken back.
    assert [reply.split()[1] for reply in replies] == [b"503", b"200"]
    assert "queries under way have 5 s to end" in "".join(stuck_server.said)


def test_a_query_under_way_says_whom_it_waits_for(stuck_server: Server) -> None:
    with httpx2.Client(base_url=stuck_server.url) as client:
        caller = _calling(stuck_server, JSON)
        _running(client, 1)

        [query] = client.get("/api/queries").json()["queries"]
        caller.close()

    assert {owed["who"] for owed in query["waiting_for"]} & {
        "engine",
        "synthesizer",
        "coordinator",
    }


def test_ctrl_c_ends_a_question_on_the_command_line_and_its_trace(
    antiphon: Antiphon, data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    with started(
        *("ask", "Is anybody there?", "--events"),
        data_dir=data_dir,
        folder=tmp_path,
        ANTHROPIC_BASE_URL=silent_model,
        # With `auto` a first call would find out whether this server cites, for 20 s.
        ANTIPHON_CITATIONS="inline",
    ) as asking:
        assert asking.stderr is not None
        next(filter(lambda line: "reasoning_started" in line, asking.stderr))
        asking.send_signal(signal.SIGINT)
        rest = asking.stderr.read()

    listed = antiphon("traces", "list", "--limit", "1").stdout.splitlines()
    newest = listed[1].split("\t")[0]
    assert asking.returncode == 130
    assert "Traceback" not in rest
    assert _end_of(antiphon, newest) == ("interrupted", "cancelled")


def _left_query(client: httpx2.Client, server: Server, accept: str) -> str:
    """The id of a query whose caller hung up, and which has ended."""
    caller = _calling(server, accept)
    [query_id] = _running(client, 1)
    caller.close()
    _running(client, 0)
    return query_id


def _end_of(antiphon: Antiphon, query_id: str) -> tuple[str, str]:
    """Why a query was cancelled, and the status it closed with."""
    shown = antiphon("traces", "show", query_id, "--json")
    assert shown.returncode == 0, shown.stderr
    events = [json.loads(line)["event"] for line in shown.stdout.splitlines()]
    reasons = [event["why"] for event in events if event["kind"] == "query_cancelled"]
    assert len(reasons) == 1, [event["kind"] for event in events]
    return reasons[0], events[-1]["status"]


def _calling(server: Server, accept: str) -> socket.socket:
    """A connection on which a question was asked."""
    place = urlsplit(server.url)
    caller = socket.create_connection((place.hostname or "", place.port or 0))
    caller.sendall(_question(accept))
    return caller


def _rest_of(caller: socket.socket) -> bytes:
    with caller:
        return b"".join(iter(lambda: caller.recv(65536), b""))


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
