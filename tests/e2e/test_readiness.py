"""/readyz says if a question could be stored and searched for within the last seconds, and `antiphon doctor` too."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from pathlib import Path

import httpx2

from antiphon.traces import STORE_FILE
from tests.e2e.conftest import STARTING_S, Server, Shell, serving, without_traces

QUESTION = {"query": "What is applemailbox7 in the Apple course?"}


def _ready(server: Server, status: int) -> dict[str, list[str]]:
    """What /readyz says once it has the status: what was found is remembered for some seconds."""
    ends_at = time.monotonic() + STARTING_S
    reply = httpx2.get(f"{server.url}/readyz")
    while reply.status_code != status and time.monotonic() < ends_at:
        time.sleep(0.1)
        reply = httpx2.get(f"{server.url}/readyz")
    assert reply.status_code == status, reply.text
    told: dict[str, list[str]] = reply.json()
    return told


def test_a_service_that_cannot_store_says_so_until_it_can(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    with serving(own, tmp_path) as server:
        before = _ready(server, 200)
        other = sqlite3.connect(own / STORE_FILE, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        during = _ready(server, 503)
        other.close()
        after = _ready(server, 200)

    assert before["problems"] == after["problems"] == []
    [problem] = during["problems"]
    assert problem.startswith("Questions cannot be stored")
    assert "another process is writing to it" in problem


def test_a_service_whose_catalogue_is_damaged_is_not_ready_and_says_what_to_do(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    [catalogue] = own.glob("knowledge/generations/*/catalogue.sqlite")
    with serving(own, tmp_path) as server:
        _ready(server, 200)
        size = catalogue.stat().st_size
        with catalogue.open("r+b") as file:
            file.seek(4_096)
            file.write(os.urandom(size - 4_096))
        asked = httpx2.post(f"{server.url}/api/query", json=QUESTION, timeout=60)
        found = _ready(server, 503)

    assert asked.status_code == 200
    [problem] = found["problems"]
    assert problem.startswith("Searching fails")
    assert "antiphon index --rebuild" in problem


def test_log_readiness_and_doctor_say_that_the_store_lost_traces(
    shell: Shell, data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    with serving(own, tmp_path) as server:
        _ready(server, 200)
        told = httpx2.post(f"{server.url}/api/query", json=QUESTION, timeout=60)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    log = own / f"{STORE_FILE}-wal"
    with log.open("r+b") as file:
        file.seek(log.stat().st_size // 4)
        file.write(os.urandom(64))

    with serving(own, tmp_path) as server:
        ready = _ready(server, 200)
        gone = httpx2.get(f"{server.url}/api/traces/{told.json()['query_id']}")
        logged = "".join(server.said)
    doctor = shell.run("doctor", data_dir=own, folder=tmp_path, ANTIPHON_PORT="0")

    assert gone.status_code == 404
    assert "trace_store_lost_events" in logged
    [warning] = ready["warnings"]
    assert "traces that were stored shortly before are missing" in warning
    assert doctor.returncode == 1
    assert "✗ Traces" in doctor.stdout
    assert "traces that were stored shortly before are missing" in doctor.stdout
