"""Runs a whole cluster on this machine without Docker: `python deploy/cluster.py` (`make cluster`); Ctrl-C ends it.

It starts the processes of deploy/docker-compose.cluster.yml: NATS servers, a Chroma server, API nodes and workers. Each
writes its process id to a file (`worker-1.pid`), so that you can kill it. The others go on; SIGHUP makes this script
restart the processes that ended. It is for trying things out, and no supervisor.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
STARTING_S = 120.0
SERVERS = ("nats", "chroma")
ENDING_S = 45.0
"""Longer than workers let their queries end (ANTIPHON_DRAIN_S)."""


class Member(NamedTuple):
    """A process, with the command and settings to restart it."""

    command: list[str]
    settings: dict[str, str]
    process: subprocess.Popen[bytes]


class Cluster:
    """The processes by name, in starting order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._members: dict[str, Member] = {}
        self._told: set[int] = set()

    def start(self, name: str, command: list[str], **settings: str) -> None:
        """Starts a process; its output and its process id go into files of their own."""
        log = (self._folder / f"{name}.log").open("ab")
        process = subprocess.Popen(
            command,
            env={**os.environ, **settings},
            stdout=log,
            stderr=log,
            cwd=ROOT,
            # Only this script may get Ctrl-C: it ends the others in their order.
            process_group=0,
        )
        log.close()
        (self._folder / f"{name}.pid").write_text(f"{process.pid}\n")
        self._members[name] = Member(command, settings, process)

    def wait_for(self, what: str, holds: Callable[[], bool]) -> None:
        """Waits until `holds()` is true; exits if a process ends first."""
        until = time.monotonic() + STARTING_S
        while not holds():
            ended = self.ended()
            if ended or time.monotonic() > until:
                raise SystemExit(
                    f"{what} does not come up{ended and ': ' + ended}. See {self._folder}/*.log."
                )
            time.sleep(0.1)
        say(f"{what} is up")

    def ended(self) -> str:
        """Names a process that has ended; empty if none has."""
        for name, member in self._members.items():
            if member.process.poll() is not None:
                return f"{name} ended with {member.process.returncode}"
        return ""

    def tell_ended(self) -> None:
        """Reports each process that has ended, once, and the command to restart it."""
        for name, member in self._members.items():
            process = member.process
            if process.poll() is None or process.pid in self._told:
                continue
            self._told.add(process.pid)
            say(
                f"{name} ended with {process.returncode}; the others go on. "
                f"Start it again with: kill -HUP {os.getpid()}"
            )

    def restart_ended(self) -> None:
        """Restarts the processes that have ended."""
        for name, member in list(self._members.items()):
            if member.process.poll() is not None:
                self.start(name, member.command, **member.settings)
                say(f"{name} is started again")

    def stop(self) -> None:
        """Ends the processes, the servers last, because workers need them to let their queries end."""
        servers: list[subprocess.Popen[bytes]] = []
        others: list[subprocess.Popen[bytes]] = []
        for name, member in self._members.items():
            if name.startswith(SERVERS):
                servers.append(member.process)
            else:
                others.append(member.process)
        for group in (others, servers):
            for process in group:
                process.terminate()
            for process in group:
                end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Waits for a terminated process to end, and kills it if it does not."""
    try:
        process.wait(ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def start_nats(cluster: Cluster, folder: Path, count: int) -> str:
    """Starts the NATS servers, and returns their addresses, which include the password."""
    password = secrets.token_hex(24)
    places = folder / "nats"
    places.mkdir(exist_ok=True, mode=0o700)
    shutil.copy(ROOT / "deploy" / "nats" / "nats.conf", places / "nats.conf")
    auth = places / "auth.conf"
    auth.touch(mode=0o600)
    auth.write_text(f'authorization {{ user: antiphon, password: "{password}" }}\n')
    ports = [free_port() for _ in range(count)]
    routes = [free_port() for _ in range(count)]
    monitors = [free_port() for _ in range(count)]
    for number in range(count):
        cluster.start(
            f"nats-{number + 1}",
            [str(BIN / "nats-server"), "--config", str(places / "nats.conf")],
            NATS_NAME=f"nats-{number + 1}",
            NATS_LISTEN=f"127.0.0.1:{ports[number]}",
            NATS_MONITOR=f"127.0.0.1:{monitors[number]}",
            NATS_CLUSTER_LISTEN=f"127.0.0.1:{routes[number]}",
            NATS_STORE=str(places / f"n{number + 1}"),
            **{
                f"NATS_ROUTE_{each + 1}": f"nats://127.0.0.1:{routes[each % count]}"
                for each in range(3)
            },
        )
    for number, port in enumerate(monitors):
        health = f"http://127.0.0.1:{port}/healthz?js-enabled-only=true"
        cluster.wait_for(f"nats-{number + 1}", lambda url=health: answers(url))
    return ",".join(f"nats://antiphon:{password}@127.0.0.1:{port}" for port in ports)


def start_chroma(cluster: Cluster, folder: Path) -> str:
    """Starts the Chroma server, and returns its address."""
    port = free_port()
    command = [str(BIN / "chroma"), "run", "--host", "127.0.0.1", "--port", str(port)]
    cluster.start(
        "chroma", [*command, "--path", str(folder / "chroma")], ANONYMIZED_TELEMETRY="0"
    )
    url = f"http://127.0.0.1:{port}"
    cluster.wait_for("chroma", lambda: answers(f"{url}/api/v2/heartbeat"))
    return url


def run(arguments: argparse.Namespace) -> None:
    """Starts everything, prints the addresses, and waits for Ctrl-C."""
    folder = Path(arguments.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    cluster = Cluster(folder)
    antiphon = [sys.executable, "-m", "antiphon.cli"]
    try:
        settings = {
            "ANTIPHON_DATA_DIR": str(folder / "data"),
            "ANTIPHON_NATS_URL": start_nats(cluster, folder, arguments.nats),
            "ANTIPHON_NATS_REPLICAS": str(arguments.nats),
        }
        if not arguments.no_chroma:
            settings["ANTIPHON_CHROMA_URL"] = start_chroma(cluster, folder)
        subprocess.run(
            [*antiphon, "index", arguments.courses],
            env={**os.environ, **settings},
            cwd=ROOT,
            check=True,
        )
        addresses: list[str] = []
        for number in range(arguments.apis):
            port = str(arguments.port + number)
            cluster.start(
                f"api-{number + 1}", [*antiphon, "serve", "--port", port], **settings
            )
            addresses.append(f"http://127.0.0.1:{port}")
        for number in range(arguments.workers):
            cluster.start(f"worker-{number + 1}", [*antiphon, "worker"], **settings)
        for address in addresses:
            cluster.wait_for(address, lambda url=address: answers(f"{url}/readyz"))
        signal.signal(signal.SIGHUP, lambda *_: cluster.restart_ended())
        say(f"Kill one, for example with: kill -9 $(cat {folder}/worker-1.pid)")
        say(f"Ask at {' or '.join(addresses)}; logs: {folder}/*.log; Ctrl-C ends all")
        while True:
            cluster.tell_ended()
            time.sleep(0.5)
    except KeyboardInterrupt:
        say("Ending: queries under way have half a minute")
    finally:
        cluster.stop()


def answers(url: str) -> bool:
    """Returns True if an address answers with success."""
    try:
        with urllib.request.urlopen(url, timeout=2) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def free_port() -> int:
    """Returns a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def say(line: str) -> None:
    """Prints a line to standard error."""
    sys.stderr.write(f"{line}\n")


def _end(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Reads the options and runs the cluster."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default="data/cluster", help="for all data")
    parser.add_argument("--courses", default="samples/courses", help="to be indexed")
    parser.add_argument("--nats", type=int, default=3, choices=(1, 3))
    parser.add_argument("--apis", type=int, default=2)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--port", type=int, default=8000, help="of the first API node")
    parser.add_argument(
        "--no-chroma", action="store_true", help="index in each process"
    )
    # SIGTERM ends it like Ctrl-C. SIGINT needs a handler because shells make background processes ignore it.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    run(parser.parse_args())


if __name__ == "__main__":
    main()
