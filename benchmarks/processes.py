"""Processes that a measurement starts on a free port, waits for, and ends."""

from __future__ import annotations

import contextlib
import logging
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

READY_WITHIN_S = 120


@dataclass(frozen=True)
class Served:
    """A server of ours. `ready_s` is the time from its start to its first good answer."""

    url: str
    pid: int
    ready_s: float

    def resident_mb(self) -> float:
        """Returns the resident memory, in MB of 1,048,576 bytes."""
        return resident_mb(self.pid)


def resident_mb(process: int | str = "self") -> float:
    """Returns a process's resident memory, in MB of 1,048,576 bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def log_errors_only() -> None:
    """Silences warnings, such as those about slow appends among a thousand at once."""
    structlog.configure(
        wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


@contextlib.contextmanager
def serving(command: Sequence[str], path: str) -> Iterator[Served]:
    """Runs `command` with `--port N` added, and ends it afterwards; `path` answers 200 when it is ready."""
    port = _free_port()
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_for(url + path, process)
        yield Served(url, process.pid, time.perf_counter() - started)
    finally:
        # Waits for its end, so that the port is free for the next measurement.
        process.terminate()
        process.wait()


def antiphon(*arguments: str) -> list[str]:
    """Returns the command line of this environment's `antiphon`."""
    return [str(Path(sys.executable).with_name("antiphon")), *arguments]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
        else:
            return
    raise SystemExit(
        f"{url} did not answer in {READY_WITHIN_S} s; its process says {process.poll()}"
    )
