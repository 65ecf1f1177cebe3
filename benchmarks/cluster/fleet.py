"""The processes of a cluster on this machine; each can be killed, paused and restarted."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.processes import antiphon

READY_S = 120.0
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

Environment = dict[str, str]


def free_port() -> int:
    """Returns a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Member:
    """One process of the fleet.

    Attributes:
        ready: Returns True once the member is usable.
        spent_s: CPU seconds of its earlier processes.
    """

    name: str
    command: Sequence[str]
    log: Path
    environment: Environment = field(default_factory=dict)
    ready: Callable[[], bool] = lambda: True
    process: subprocess.Popen[bytes] | None = None
    spent_s: float = 0.0

    def start(self) -> None:
        """Starts the process, even again after a kill."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command,
                env={**os.environ, **self.environment},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def wait(self) -> None:
        """Waits until the process is ready; stops the measurement if it never is."""
        until = time.monotonic() + READY_S
        while not self.ready():
            ended = self.process is None or self.process.poll() is not None
            if ended or time.monotonic() > until:
                tail = self.log.read_text(errors="replace")[-2_000:]
                raise SystemExit(f"{self.name} is not ready:\n{tail}")
            time.sleep(0.1)

    def send(self, number: int) -> None:
        """Sends the process a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kills the process at once."""
        self.end(signal.SIGKILL)

    def end(self, number: int = signal.SIGTERM) -> None:
        """Ends the process with a signal and waits until it is gone."""
        if self.process is None:
            return
        self.spent_s += cpu_s(self.process.pid)
        self.process.send_signal(number)
        # A paused process handles no other signal until it gets this one.
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def cpu_s(self) -> float:
        """Returns the CPU seconds used so far, including those of earlier processes."""
        if self.process is None:
            return self.spent_s
        return self.spent_s + cpu_s(self.process.pid)


def cpu_s(pid: int) -> float:
    """Returns the CPU seconds of a process with all its threads."""
    try:
        # The name before the last parenthesis may contain spaces; utime and stime come after it (proc(5)).
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / CLOCK_TICKS


def answers(url: str) -> Callable[[], bool]:
    """Returns a check that an address answers with 200."""

    def check() -> bool:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except (urllib.error.URLError, OSError):
            return False
        return True

    return check


def takes_connections(port: int) -> Callable[[], bool]:
    """Returns a check that a port accepts connections."""

    def check() -> bool:
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return True
        except OSError:
            return False

    return check


def nats_servers(folder: Path, size: int) -> tuple[list[Member], str]:
    """Returns the members of a NATS cluster, or a single server, and their addresses."""
    ports = [free_port() for _ in range(size)]
    routes = [free_port() for _ in range(size)]
    members: list[Member] = []
    for number, (port, route) in enumerate(zip(ports, routes, strict=True), 1):
        name = f"nats-{number}"
        command = [
            str(Path(sys.executable).with_name("nats-server")),
            *("--addr", "127.0.0.1", "--port", str(port), "--server_name", name),
            *("--jetstream", "--store_dir", str(folder / name)),
        ]
        if size > 1:
            others = ",".join(f"nats://127.0.0.1:{each}" for each in routes)
            command += ["--cluster_name", "antiphon"]
            command += ["--cluster", f"nats://127.0.0.1:{route}", "--routes", others]
        log = folder / f"{name}.log"
        members.append(Member(name, command, log, ready=takes_connections(port)))
    return members, ",".join(f"nats://127.0.0.1:{port}" for port in ports)


def chroma_server(folder: Path) -> tuple[Member, str]:
    """Returns a Chroma server and its address."""
    port = free_port()
    command = [
        str(Path(sys.executable).with_name("chroma")),
        *("run", "--host", "127.0.0.1", "--port", str(port)),
        *("--path", str(folder / "chroma")),
    ]
    url = f"http://127.0.0.1:{port}"
    log = folder / "chroma.log"
    ready = answers(f"{url}/api/v2/heartbeat")
    return Member("chroma", command, log, ready=ready), url


def model(folder: Path, latency_s: float) -> tuple[Member, str]:
    """Returns the double of the Messages API and its address."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "uvicorn", "benchmarks.cluster.model:app"),
        *("--port", str(port), "--log-level", "error"),
        *("--timeout-keep-alive", "600", "--backlog", "4096"),
    ]
    url = f"http://127.0.0.1:{port}"
    environment = {"LATENCY_S": str(latency_s)}
    log = folder / "model.log"
    return Member("model", command, log, environment, answers(f"{url}/healthz")), url


def api_node(folder: Path, name: str, environment: Environment) -> tuple[Member, str]:
    """Returns an API node and its address."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = antiphon("serve", "--port", str(port))
    log = folder / f"{name}.log"
    return Member(name, command, log, environment, answers(f"{url}/readyz")), url


def worker(folder: Path, name: str, environment: Environment) -> Member:
    """Returns a worker; it is ready once it takes questions."""
    port = free_port()
    command = antiphon("worker", "--health", str(port))
    ready = answers(f"http://127.0.0.1:{port}/readyz")
    return Member(name, command, folder / f"{name}.log", environment, ready)
