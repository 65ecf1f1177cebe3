"""Workers, API nodes and a model double as processes over one NATS server, with helpers for tests."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.e2e.conftest import ROOT, STARTING_S, environment
from tests.e2e.forking import ForkedCommand, address

PATIENCE_S = 60.0
"""Seconds that a test waits for something that must happen."""


class Process:
    """A running command of ours; it keeps the printed lines."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        forked_at: str | None = None,
        newer: bool = False,
        **settings: str,
    ) -> None:
        self.said: list[str] = []
        self._over = False
        self._news = threading.Condition()
        self.process = _command(
            arguments, forked_at, environment(folder, **settings), newer=newer
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.said.append(line)
                self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()

    def line_with(self, words: str) -> str:
        """Waits for a line with these words."""

        def found() -> str | None:
            return next((line for line in self.said if words in line), None)

        with self._news:
            self._news.wait_for(lambda: found() or self._over, STARTING_S)
        line = found()
        assert line is not None, "".join(self.said)
        return line

    def signal(self, number: int) -> None:
        """Sends the process a signal."""
        self.process.send_signal(number)

    def kill(self) -> None:
        """Kills the process at once."""
        self.process.kill()
        self.process.wait(STARTING_S)

    def stop(self) -> int:
        """Asks the process to stop, and returns its exit code."""
        self.process.terminate()
        return self.process.wait(STARTING_S)

    def end(self) -> None:
        """Ends the process, even a paused or a dead one."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()


def _command(
    arguments: Sequence[str],
    forked_at: str | None,
    env: dict[str, str],
    *,
    newer: bool,
) -> ForkedCommand | subprocess.Popen[str]:
    if not newer:
        return ForkedCommand(forked_at or address(), arguments, ROOT, env)
    # Not forked, because the fork server has loaded the present vocabulary already.
    return subprocess.Popen(
        [sys.executable, "-m", "tests.cluster.newer", *arguments],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


class ClusterOf:
    """The processes of one test, under their own names on a NATS server.

    Args:
        forked_at: Address of the process that forks them; None for this test's own.
    """

    def __init__(
        self,
        nats_url: str,
        data_dir: Path,
        model_url: str,
        forked_at: str | None = None,
        **settings: str,
    ) -> None:
        self.prefix = f"t{uuid.uuid4().hex[:12]}"
        self._data_dir = data_dir
        self._forked_at = forked_at
        self._settings = {
            "ANTIPHON_NATS_URL": nats_url,
            "ANTIPHON_NATS_PREFIX": self.prefix,
            "ANTIPHON_CLAIM_S": "1.5",
            "ANTIPHON_CITATIONS": "native",
            "ANTIPHON_LOG_FORMAT": "json",
            "ANTHROPIC_BASE_URL": model_url,
        } | settings
        self._stack = ExitStack()

    def _start(self, *arguments: str, newer: bool = False, **settings: str) -> Process:
        process = Process(
            arguments,
            self._data_dir,
            self._forked_at,
            newer,
            **(self._settings | settings),
        )
        self._stack.callback(process.end)
        return process

    def worker(
        self,
        *options: str,
        ready: bool = True,
        newer: bool = False,
        **settings: str,
    ) -> Process:
        """Starts a worker, of a newer program if `newer`."""
        process = self._start("worker", *options, newer=newer, **settings)
        if ready:
            process.line_with("takes questions")
        return process

    def spare(self, *, newer: bool = False) -> Process:
        """Starts a worker that stays paused until SIGCONT, so that earlier questions go to others."""
        process = self.worker(newer=newer)
        process.signal(signal.SIGSTOP)
        return process

    def node(self, *, newer: bool = False, **settings: str) -> Node:
        """Starts an API node, of a newer program if `newer`."""
        process = self._start("serve", "--port", "0", newer=newer, **settings)
        return Node(process)

    def end(self) -> None:
        """Ends all processes."""
        self._stack.close()


class Node:
    """An API node and a client for it."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.url = process.line_with("Antiphon serves ").split()[2]
        self.client = httpx2.Client(base_url=self.url, timeout=PATIENCE_S)

    def begin(self, query: str = "What is applemailbox7?", **wishes: object) -> str:
        """Asks a question and returns its id."""
        reply = self.client.post("/api/queries", json={"query": query, **wishes})
        assert reply.status_code == 202, reply.text
        assert reply.headers["location"] == f"/api/queries/{reply.json()['query_id']}"
        return str(reply.json()["query_id"])

    def state(self, query_id: str) -> dict[str, Any]:
        """Returns a question's state."""
        found: dict[str, Any] = self.client.get(f"/api/queries/{query_id}").json()
        return found

    def answered(self, query_id: str) -> dict[str, Any]:
        """Waits until a question is over, and returns its state."""
        found: dict[str, Any] = waited(
            lambda: self.state(query_id), lambda state: state["answer"] is not None
        )
        return found

    def events(self, query_id: str) -> list[dict[str, Any]]:
        """Returns the stored events of a query."""
        trace: list[dict[str, Any]] = self.client.get(f"/api/traces/{query_id}").json()[
            "events"
        ]
        return trace

    def kinds(self, query_id: str) -> list[str]:
        """Returns the kinds of the stored events."""
        return [each["event"]["kind"] for each in self.events(query_id)]

    def after(self, query_id: str, kind: str, times: int = 1) -> None:
        """Waits until `times` events of a kind are stored."""
        waited(lambda: self.kinds(query_id), lambda kinds: kinds.count(kind) >= times)

    def followed(self, query_id: str, after: int = 0) -> Iterator[tuple[str, str]]:
        """Yields kind and id of each server-sent event; closes the connection at the end."""
        headers = {"Last-Event-ID": str(after)}
        path = f"/api/queries/{query_id}/events"
        with self.client.stream("GET", path, headers=headers) as told:
            kind, number = "", ""
            for line in told.iter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "id":
                    number = value
                elif not line and kind:
                    yield kind, number
                    kind, number = "", ""


def waited(look: Callable[[], Any], until: Callable[[Any], bool]) -> Any:
    """Polls `look` until its result satisfies `until`, and returns that result."""
    ends_at = time.monotonic() + PATIENCE_S
    while True:
        try:
            found = look()
            if until(found):
                return found
        # The query or the server may not be there yet.
        except (KeyError, httpx2.TransportError):
            found = None
        assert time.monotonic() < ends_at, json.dumps(found)[:2000]
        time.sleep(0.02)


def is_whole(events: Sequence[dict[str, Any]]) -> bool:
    """Returns True for a trace without gaps that ends exactly once."""
    kinds = [each["event"]["kind"] for each in events]
    numbers = [each["seq"] for each in events]
    return (
        numbers == list(range(1, len(events) + 1))
        and kinds.count("query_closed") == 1
        and kinds[-1] == "query_closed"
    )


@contextmanager
def cluster(
    nats_url: str, data_dir: Path, model_url: str, **settings: str
) -> Iterator[ClusterOf]:
    """Processes that end with the test."""
    processes = ClusterOf(nats_url, data_dir, model_url, **settings)
    try:
        yield processes
    finally:
        processes.end()
