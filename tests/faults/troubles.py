"""A served service with a full, locked or damaged store: what thirty concurrent callers got, and what is stored.

Each caller keeps a list of the acknowledgements it got and of how long it waited.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from antiphon.traces import STORE_FILE, SqliteTraceStore
from antiphon.vocabulary.errors import NotFoundError
from tests.e2e.conftest import Server, serving

DEADLINE_S = 10.0
LATE_S = 2.0
QUESTION = "What are the three states of a circuit breaker?"
LOADED_S = 60.0


@dataclass
class Found:
    """What happened under one trouble."""

    trouble: str
    statuses: Counter[int] = field(default_factory=Counter)
    slowest_s: float = 0.0
    acknowledged: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        statuses = ", ".join(
            f"{count} times {status}" for status, count in sorted(self.statuses.items())
        )
        return (
            f"{self.trouble}: {statuses}; the slowest after {self.slowest_s:.1f} s; "
            f"{len(self.acknowledged)} acknowledged, {len(self.wrong)} wrong; said: {' '.join(self.said)}"
        )

    def note(self, reply: httpx2.Response, took_s: float) -> None:
        """Notes the reply that a caller got."""
        self.statuses[reply.status_code] += 1
        self.slowest_s = max(self.slowest_s, took_s)
        if reply.status_code == 202:
            self.acknowledged.append(reply.json()["query_id"])
        elif reply.status_code == 503 and "retry-after" not in reply.headers:
            self.wrong.append("a refusal does not say when to come back")
        elif reply.status_code not in (200, 503):
            self.wrong.append(f"a caller was told {reply.status_code}: {reply.text}")
        if took_s > DEADLINE_S + LATE_S:
            self.wrong.append(f"a caller was told after {took_s:.1f} s")


def full_disk(data_dir: Path, cwd: Path, callers: int) -> Found:
    """The service's files cannot grow any more, as on a full disk."""
    return _troubled("full disk", data_dir, cwd, callers, _no_room)


def locked_store(data_dir: Path, cwd: Path, callers: int) -> Found:
    """Another process holds the store's lock."""
    return _troubled("locked store", data_dir, cwd, callers, _lock)


def damaged_log(data_dir: Path, cwd: Path, callers: int) -> Found:
    """The service is killed, and bytes of its store's write-ahead log change before it starts again."""
    ours = _without_traces(data_dir, cwd, "damaged")
    found = Found("damaged log")
    with serving(ours, cwd) as server:
        _wait_until_ready(server)
        _ask_at_once(server, callers, found)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    log = ours / f"{STORE_FILE}-wal"
    with log.open("r+b") as file:
        file.seek(log.stat().st_size // 4)
        file.write(os.urandom(64))
    with serving(ours, cwd) as server:
        ready = _wait_until_ready(server)
        found.said = [each[:60] for each in ready["warnings"]]
        logged = any("trace_store_lost_events" in line for line in server.said)
    # The bytes are lost; the service must say so itself, so that nobody finds out by missing an answer.
    if not found.said or not logged:
        found.wrong.append("traces are gone without a word")
    return found


TROUBLES: Sequence[Callable[[Path, Path, int], Found]] = (
    full_disk,
    locked_store,
    damaged_log,
)

Begin = Callable[[Server, Path], Callable[[], object]]
"""Makes the trouble and returns the function that ends it."""


def _troubled(
    name: str, data_dir: Path, cwd: Path, callers: int, begin: Begin
) -> Found:
    ours = _without_traces(data_dir, cwd, name.replace(" ", "-"))
    found = Found(name)
    with serving(ours, cwd) as server:
        _wait_until_ready(server)
        # The store is in use when the trouble comes.
        _ask_at_once(server, 2, found)
        end = begin(server, ours)
        _ask_at_once(server, callers, found)
        ready = httpx2.get(f"{server.url}/readyz")
        found.said = [each[:80] for each in ready.json()["problems"]]
        if ready.status_code != 503:
            found.wrong.append("the service says that it is ready")
        end()
        _ask_at_once(server, 2, found)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    found.wrong += asyncio.run(_missing(ours, found.acknowledged))
    return found


def _no_room(server: Server, data_dir: Path) -> Callable[[], object]:
    # Limits the size of the service's files: its writes then fail as on a full disk, and no other process notices.
    pid = server.process.pid
    most = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    size = (data_dir / f"{STORE_FILE}-wal").stat().st_size
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, most[1]))
    return lambda: resource.prlimit(pid, resource.RLIMIT_FSIZE, most)


def _lock(_: Server, data_dir: Path) -> Callable[[], object]:
    other = sqlite3.connect(
        data_dir / STORE_FILE, isolation_level=None, check_same_thread=False
    )
    other.execute("BEGIN EXCLUSIVE")
    return other.close


def _ask_at_once(server: Server, callers: int, found: Found) -> None:
    """Has callers ask in three ways: waiting, to fetch later, and to fetch later with an idempotency key."""

    def ask(number: int) -> tuple[httpx2.Response, float]:
        body = {"query": QUESTION, "deadline_s": DEADLINE_S}
        path = "/api/query" if number % 3 == 0 else "/api/queries"
        headers = {}
        if number % 3 == 2:
            headers["Idempotency-Key"] = f"{time.monotonic()}-{number}"
        began = time.monotonic()
        reply = httpx2.post(
            f"{server.url}{path}", json=body, headers=headers, timeout=60
        )
        return reply, time.monotonic() - began

    with ThreadPoolExecutor(callers) as pool:
        for reply, took_s in pool.map(ask, range(callers)):
            found.note(reply, took_s)


async def _missing(data_dir: Path, acknowledged: Sequence[str]) -> list[str]:
    missing: list[str] = []
    store = SqliteTraceStore.open(data_dir)
    for query_id in acknowledged:
        try:
            await store.read(query_id)
        except NotFoundError:
            missing.append(f"{query_id} was acknowledged, and is missing")
    await store.close()
    return missing


def _wait_until_ready(server: Server) -> dict[str, list[str]]:
    ends_at = time.monotonic() + LOADED_S
    ready = httpx2.get(f"{server.url}/readyz")
    while ready.status_code != 200 and time.monotonic() < ends_at:
        time.sleep(0.1)
        ready = httpx2.get(f"{server.url}/readyz")
    told: dict[str, list[str]] = ready.json()
    return told


def _without_traces(data_dir: Path, cwd: Path, name: str) -> Path:
    ignored = shutil.ignore_patterns("traces.sqlite*", ".*.owner")
    return Path(shutil.copytree(data_dir, cwd / name, ignore=ignored))
