"""Real NATS servers with JetStream for tests to start and kill: one alone, or a cluster of three."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from antiphon.cluster import connection

BINARY = Path(sys.executable).with_name("nats-server")
STARTS_S = 20.0


class NatsServer:
    """One server as a process, with its own folder and ports."""

    def __init__(
        self,
        folder: Path,
        name: str = "n1",
        routes: str = "",
        cluster_port: int = 0,
        host: str = "127.0.0.1",
    ) -> None:
        self.name = name
        self.host = host
        self.port = free_port()
        self._folder = folder / name
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process: subprocess.Popen[bytes] | None = None
        self._arguments = [
            str(BINARY),
            "--addr", host,
            "--port", str(self.port),
            "--server_name", name,
            "--jetstream",
            "--store_dir", str(self._folder),
            "--log", str(self._folder / "server.log"),
        ]  # fmt: skip
        if routes:
            self._arguments += [
                "--cluster_name", "test",
                "--cluster", f"nats://{host}:{cluster_port}",
                "--routes", routes,
            ]  # fmt: skip

    @property
    def url(self) -> str:
        """The server's address."""
        return f"nats://{self.host}:{self.port}"

    @property
    def log(self) -> str:
        """The server's log so far."""
        return (self._folder / "server.log").read_text(errors="replace")

    def start(
        self, *, jetstream: bool = True, user: str = "", password: str = ""
    ) -> None:
        """Starts the server, even again after a kill, and waits until it accepts connections."""
        arguments = [
            each for each in self._arguments if jetstream or each != "--jetstream"
        ]
        if user:
            arguments += ["--user", user, "--pass", password]
        self._process = subprocess.Popen(
            arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self._wait_for_port()

    def signal(self, number: int) -> None:
        """Sends the server a signal, such as SIGSTOP."""
        assert self._process is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """Kills the server at once, like a loss of power."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Ends the server gracefully."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _wait_for_port(self) -> None:
        assert self._process is not None
        until = time.monotonic() + STARTS_S
        while time.monotonic() < until:
            try:
                with socket.create_connection((self.host, self.port), 1):
                    return
            except OSError:
                assert self._process.poll() is None, self.log
                time.sleep(0.02)
        raise AssertionError(f"{self.name} takes no connection:\n{self.log}")


@contextmanager
def nats_server(folder: Path) -> Iterator[NatsServer]:
    """Runs one server alone."""
    server = NatsServer(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def nats_cluster(folder: Path, size: int = 3) -> Iterator[list[NatsServer]]:
    """Runs a cluster; the user must wait until it has a leader (as the cluster's `connect` does)."""
    ports = [free_port() for _ in range(size)]
    routes = ",".join(f"nats://127.0.0.1:{port}" for port in ports)
    servers: list[NatsServer] = []
    with ExitStack() as stack:
        for number, port in enumerate(ports, 1):
            server = NatsServer(folder, f"n{number}", routes, port)
            servers.append(server)
            stack.callback(server.stop)
            server.start()
        yield servers


def give_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens the five seconds of connection attempts, for tests without a server."""
    monkeypatch.setattr(connection, "CONNECT_S", 1.0)


def addresses_of(servers: list[NatsServer]) -> str:
    """Returns the servers' addresses as one setting."""
    return ",".join(server.url for server in servers)


def free_port() -> int:
    """Returns a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
