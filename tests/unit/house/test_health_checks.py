"""Each container of the compose files says whether it is well, or why it cannot; the checks do what they say."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

ROOT = Path(__file__).parents[3]
FILES = ("docker-compose.yml", "deploy/docker-compose.cluster.yml")
UNCHECKED = "x-unchecked"
"""The field of a service that says why it has no health check."""


class Described(NamedTuple):
    """A service of a compose file."""

    file: str
    name: str
    service: dict[str, Any]

    @property
    def check(self) -> list[str]:
        """The command of its health check; empty where it has none, or that of its image."""
        command: list[str] = self.service.get("healthcheck", {}).get("test", [])
        return command

    @property
    def built_with_check(self) -> bool:
        """True if the image that is built for it has a health check."""
        if "build" not in self.service:
            return False
        dockerfile = (ROOT / self.file).parent / self.service["build"] / "Dockerfile"
        return "\nHEALTHCHECK " in dockerfile.read_text()


def described() -> list[Described]:
    found: list[Described] = []
    for file in FILES:
        loaded = yaml.safe_load((ROOT / file).read_text())
        for name, service in loaded["services"].items():
            found.append(Described(file, name, service))
    return found


def id_of(each: Described) -> str:
    return f"{each.file}: {each.name}"


@pytest.mark.parametrize("each", described(), ids=id_of)
def test_each_service_has_a_health_check_or_says_why_not(each: Described) -> None:
    switched_off = each.service.get("healthcheck", {}).get("disable", False)
    is_checked = bool(each.check) or (each.built_with_check and not switched_off)
    reason = str(each.service.get(UNCHECKED, ""))

    assert is_checked != bool(reason.strip())
    if each.check:
        assert each.check[0] == "CMD"
        assert {"interval", "timeout"} <= each.service["healthcheck"].keys()


@pytest.mark.parametrize("file", FILES)
def test_nobody_waits_for_the_health_of_what_has_no_check(file: str) -> None:
    services = {each.name: each for each in described() if each.file == file}

    for each in services.values():
        for other, how in each.service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert UNCHECKED not in services[other].service
            else:
                assert how["condition"] == "service_completed_successfully"


@contextmanager
def answering(status: int) -> Iterator[int]:
    """A server on loopback that answers every request with a status; yields its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_right = self.path == "/api/v2/heartbeat"
            self.send_response(status if is_right else 404)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Keeps still."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def is_well(check: list[str], port: int) -> bool:
    """Runs a health check as the engine does, at another port."""
    command = [
        part.replace("$$", "$").replace("127.0.0.1/8000", f"127.0.0.1/{port}")
        for part in check[1:]
    ]
    run = subprocess.run(command, timeout=20, capture_output=True, check=False)
    return run.returncode == 0


@pytest.mark.parametrize("file", FILES)
def test_the_check_of_chroma_tells_a_server_that_is_well_from_others(file: str) -> None:
    [chroma] = [
        each for each in described() if (each.file, each.name) == (file, "chroma")
    ]

    with answering(200) as well, answering(503) as ill:
        found = (is_well(chroma.check, well), is_well(chroma.check, ill))

    assert found == (True, False)
    # Nobody listens there any more.
    assert not is_well(chroma.check, well)


def test_the_checks_by_python_are_python() -> None:
    programs = {
        each.check[3] for each in described() if each.check[1:3] == ["python", "-c"]
    }

    assert programs
    for program in programs:
        subprocess.run(
            [sys.executable, "-c", f"compile({program!r}, 'x', 'exec')"], check=True
        )


def test_whoever_has_no_check_is_watched_by_prometheus() -> None:
    loaded = yaml.safe_load((ROOT / "deploy/prometheus/cluster.yml").read_text())
    targets: list[str] = []
    for job in loaded["scrape_configs"]:
        for group in job["static_configs"]:
            targets += group["targets"]
    watched = {target.partition(":")[0] for target in targets}

    for each in described():
        runs_on = each.service.get("restart") != "no"
        if UNCHECKED in each.service and runs_on:
            assert each.name in watched
