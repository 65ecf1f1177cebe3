"""The real thing in processes of its own: an index of small courses, and the service that answers from it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import httpx2
import pytest

from tests.course_files import write_course
from tests.e2e.forking import ForkedCommand, address
from tests.guarded import with_key

ROOT = Path(__file__).parents[2]
STARTING_S = 180.0
CRASHES = (-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS)


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """This process's environment without its own settings, and with those given."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("ANTIPHON_", "ANTHROPIC_"))
    }
    return (
        ours
        | {
            "ANTIPHON_DATA_DIR": str(data_dir),
            "ANTIPHON_EMBEDDER": "onnx",
            "PYTHONPATH": str(ROOT),
        }
        | with_key(settings)
    )


@contextmanager
def heeding_ctrl_c() -> Iterator[None]:
    """Lets the commands that are started meanwhile heed SIGINT, even if this process ignores it.

    A shell script starts what runs in its background with SIGINT ignored, and a command rightly keeps to that. It is
    inherited, so tests in the background would send Ctrl-C to commands that go on for ever.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session", autouse=True)
def _commands_heed_ctrl_c() -> Iterator[None]:
    with heeding_ctrl_c():
        yield


class Run(NamedTuple):
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


Antiphon = Callable[..., Run]


class Shell:
    """Runs commands in a process of its own (shell.py)."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._stdin, self._stdout = process.stdin, process.stdout

    def run(
        self,
        *arguments: str,
        folder: Path,
        data_dir: Path,
        stdin: str = "",
        **settings: str,
    ) -> Run:
        """One command, run to its end in `folder`."""
        named = {"ANTIPHON_DATA_DIR": str(data_dir)} | with_key(settings)
        self._stdin.write(
            json.dumps(
                {
                    "arguments": arguments,
                    "settings": named,
                    "folder": str(folder),
                    "stdin": stdin,
                    "test": os.environ.get("PYTEST_CURRENT_TEST", ""),
                }
            )
            + "\n"
        )
        self._stdin.flush()
        return Run(**json.loads(self._stdout.readline()))


@pytest.fixture(scope="session")
def shell() -> Iterator[Shell]:
    """A process that runs commands."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.shell"],
        # Each command brings the reasoner and the key that it is to have.
        env=environment(Path("nowhere"), ANTIPHON_REASONER="auto"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Shell(process)


@pytest.fixture(scope="session")
def data_dir(shell: Shell, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two courses, indexed by the command."""
    folder = tmp_path_factory.mktemp("e2e")
    write_course(folder / "courses", "apple", lessons=4)
    write_course(folder / "courses", "pear", lessons=3)
    run = shell.run("index", "courses", folder=folder, data_dir=folder / "data")
    assert run.returncode == 0, run.stderr
    return folder / "data"


def without_traces(data_dir: Path, folder: Path) -> Path:
    """A copy of a data folder that holds its index and no traces.

    A service that starts goes on with every query that was left open, and counts it among those under way.
    """
    ignored = shutil.ignore_patterns("traces.sqlite*", ".*.owner")
    return Path(shutil.copytree(data_dir, folder / "without-traces", ignore=ignored))


@pytest.fixture
def antiphon(shell: Shell, data_dir: Path, tmp_path: Path) -> Antiphon:
    """Runs the command over the two courses, in an empty folder."""
    return partial(shell.run, folder=tmp_path, data_dir=data_dir)


class Server:
    """`antiphon serve` in a process of its own."""

    def __init__(self, process: subprocess.Popen[str] | ForkedCommand) -> None:
        assert process.stderr is not None
        self.process = process
        self.said: list[str] = []
        self.url = self._read_until_url(process.stderr)
        self._reader = threading.Thread(
            target=self.said.extend, args=(process.stderr,), daemon=True
        )
        self._reader.start()

    def _read_until_url(self, stderr: IO[str]) -> str:
        for line in stderr:
            self.said.append(line)
            if "Antiphon serves " in line:
                return line.split()[2]
        raise AssertionError("".join(self.said))

    def stop(self, by: signal.Signals = signal.SIGTERM) -> int:
        """Tells it to stop; its exit code."""
        self.process.send_signal(by)
        code = self.process.wait(STARTING_S)
        self._reader.join()
        return code


@contextmanager
def serving(
    data_dir: Path, cwd: Path, *options: str, **settings: str
) -> Iterator[Server]:
    """A server on a free port, started with these options, that has loaded everything; stopped at the end."""
    command = ["serve", "--port", "0", *options]
    env = environment(data_dir, **settings)
    with _stopped(ForkedCommand(address(), command, cwd, env)) as server:
        wait_until_loaded(server)
        yield server


def wait_until_loaded(server: Server) -> None:
    """Returns once the embedder is loaded, even if the service has another reason not to take questions."""
    readyz = server.url.replace("0.0.0.0", "127.0.0.1") + "/readyz"
    ends_at = time.monotonic() + STARTING_S
    while time.monotonic() < ends_at:
        ready = httpx2.get(readyz, timeout=STARTING_S)
        if ready.status_code not in (200, 503) or ready.json()["embedder_loaded"]:
            return
        time.sleep(0.02)
    raise AssertionError("the service has not loaded its embedder")


@contextmanager
def serving_anew(data_dir: Path, cwd: Path, **settings: str) -> Iterator[Server]:
    """The same in a new process of Python, which has not imported anything yet."""
    process = subprocess.Popen(
        [sys.executable, "-m", "antiphon.cli", "serve", "--port", "0"],
        env=environment(data_dir, **settings),
        cwd=cwd,
        stderr=subprocess.PIPE,
        text=True,
    )
    with _stopped(process) as server:
        yield server


@contextmanager
def _stopped(process: subprocess.Popen[str] | ForkedCommand) -> Iterator[Server]:
    server: Server | None = None
    try:
        server = Server(process)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(STARTING_S)
        if server is not None and process.returncode in CRASHES:
            # Otherwise a caller's lost connection would be the only sign of it.
            said = "".join(server.said)
            raise AssertionError(f"the server crashed ({process.returncode}):\n{said}")


@pytest.fixture(scope="session")
def server(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """The service over the two courses, without a key."""
    with serving(data_dir, tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[httpx2.Client]:
    """A caller of the service."""
    with httpx2.Client(base_url=server.url, timeout=STARTING_S) as calling:
        yield calling


@pytest.fixture(scope="session")
def door(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service over the two courses with every door open that speaks over HTTP, without a key."""
    folder = tmp_path_factory.mktemp("door")
    own = without_traces(data_dir, folder)
    with serving(own, folder, ANTIPHON_DOORS="openai,agui") as running:
        yield running


@pytest.fixture(scope="session")
def rest(door: Server) -> Iterator[httpx2.Client]:
    """A caller of that service's own API."""
    with httpx2.Client(base_url=door.url, timeout=STARTING_S) as calling:
        yield calling


@pytest.fixture
def silent_model() -> Iterator[str]:
    """The URL of a Messages API that accepts calls and never answers them."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(100)
        yield f"http://127.0.0.1:{silent.getsockname()[1]}"


@pytest.fixture
def stuck_server(data_dir: Path, tmp_path: Path, silent_model: str) -> Iterator[Server]:
    """The service with a model that never answers."""
    with serving(data_dir, tmp_path, ANTHROPIC_BASE_URL=silent_model) as running:
        # A test that counts the queries under way would take another test's for its own.
        under_way = httpx2.get(f"{running.url}/api/queries").json()["queries"]
        assert under_way == [], "a query that another test left open goes on here"
        yield running
