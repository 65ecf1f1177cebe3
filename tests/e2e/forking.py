"""Runs `antiphon` commands as forks of one process that has imported the packages: two CPU seconds less for each.

Every command is a process of its own, with its own folder, environment, files and signals; only what importing does is
done once. Tests of how a command begins start it anew (tests/e2e/processes.py, `serving_anew`).
"""

from __future__ import annotations

import atexit
import faulthandler
import functools
import json
import os
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TextIO

from antiphon.cli import process
from tests.e2e.kept_model import keep_changed_model

ROOT = Path(__file__).parents[2]
IMPORTED = (
    "antiphon.cli.entry",
    "antiphon.api.serving",
    "anthropic",
    "aiohttp",
    "chromadb",
    "onnxruntime",
    "tokenizers",
    "nats.js",
)
"""What commands import sooner or later, as far as it starts no thread."""
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as calling:
    calling.connect({address!r})
    called = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(calling, [b"%12d" % len(called)], [0, 1, 2])
    calling.sendall(called)
    ended = calling.makefile().read().split()
os._exit(int(ended[1]) % 256)
"""
"""The command `antiphon` for a shell: it has the fork use its own input and outputs, and ends as the fork ends."""


class ForkedCommand:
    """A command under way, as `subprocess.Popen` shows one; what it prints goes to `stdout`, or nowhere."""

    def __init__(
        self,
        address: str,
        arguments: Sequence[str],
        cwd: Path,
        env: Mapping[str, str],
        stdout: int | None = None,
    ) -> None:
        ours, theirs = os.pipe()
        self._status = socket.socket(socket.AF_UNIX)
        self._status.connect(address)
        called = json.dumps([arguments, str(cwd), dict(env)]).encode()
        with open(os.devnull, "r+b") as nothing:
            handles = [nothing.fileno(), stdout or nothing.fileno(), theirs]
            socket.send_fds(self._status, [b"%12d" % len(called)], handles)
        os.close(theirs)
        self._status.sendall(called)
        self.stderr: TextIO = open(ours)  # noqa: SIM115 - open as long as the command
        self._lines = self._status.makefile()
        self.pid = int(self._lines.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        try:
            return self.wait(0)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        """Waits until it ends; its exit code."""
        if self.returncode is None:
            readable, _, _ = select.select([self._status], [], [], timeout)
            if not readable:
                raise subprocess.TimeoutExpired(f"antiphon ({self.pid})", timeout or 0)
            self.returncode = int(self._lines.readline())
            self._status.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@functools.cache
def address() -> str:
    """The address of this process's forking process, which the first call starts; it ends with this process."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(forking(lambda *command: list(command)))


@contextmanager
def forking(on: Callable[..., list[str]]) -> Generator[str, None, None]:
    """A forking process; yields its address.

    Args:
        on: Wraps a command so that it runs in the place of the forks, such as on a machine of a test's network.
    """
    path = str(Path(tempfile.mkdtemp(prefix="antiphon-")) / "fork")
    started = subprocess.Popen(
        on(sys.executable, "-m", "tests.e2e.forking", path),
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert started.stdin is not None
    assert started.stdout is not None
    try:
        assert started.stdout.readline() == b"ready\n"
        yield path
    finally:
        started.stdin.close()


def main() -> None:
    """Forks for every caller, until standard input is closed."""
    folder = Path(sys.argv[1]).parent
    for name in IMPORTED:
        import_module(name)
    keep_changed_model(folder)
    # Each process that waits for a command is a child of ours, and nobody waits for that child.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(sys.argv[1])
        listener.listen(100)
        print("ready", flush=True)  # noqa: T201 - the process that started it waits for that
        while True:
            readable, _, _ = select.select([listener, sys.stdin], [], [])
            if sys.stdin in readable:
                break
            called, _ = listener.accept()
            if not os.fork():
                listener.close()
                _watch(called)
            called.close()
    shutil.rmtree(folder)


def _watch(called: socket.socket) -> None:
    """Forks once more, and reports how the fork ended; this process ends here."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, handles, _, _ = socket.recv_fds(called, 12, 3)
    with called.makefile("rb") as sent:
        arguments, cwd, environment = json.loads(sent.read(int(length)))
    command = os.fork()
    if not command:
        called.close()
        _run(arguments, cwd, environment, handles)
    for handle in handles:
        os.close(handle)
    called.sendall(b"%d\n" % command)
    # A Ctrl-C on a terminal is for the command.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, status = os.waitpid(command, 0)
    called.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _run(
    arguments: list[str], cwd: str, environment: dict[str, str], handles: list[int]
) -> None:
    """Runs one command as a process that has just begun would; does not return."""
    for number, handle in enumerate(handles):
        os.dup2(handle, number)
    os.closerange(3, 1_000)
    sys.stdin = open(0)  # noqa: SIM115 - as long as the process
    sys.stdout = open(1, "w")  # noqa: SIM115
    sys.stderr = open(2, "w", errors="backslashreplace", buffering=1)  # noqa: SIM115
    faulthandler.enable()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()
    # On Ctrl-C the command speaks, and its children do not: each must know which of the two it is.
    process._started_as = os.getpid()
    sys.argv = ["antiphon", *arguments]
    process.main()


if __name__ == "__main__":
    main()
