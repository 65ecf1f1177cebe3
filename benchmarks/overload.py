"""Five times the capacity, and a crowd that does not read: `make overload`.

Capacity is what the service answers of a scripted model with as many callers as it has places. Then questions come at
five times that rate, whether or not earlier ones are answered. Goodput, and the time of those that were let in, are
compared with the capacity. Last, questions are asked alone and beside READERS event streams that nobody reads and IDLE
connections on which nothing is sent, in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
from rich.console import Console

from benchmarks.processes import Served, serving
from benchmarks.soak import QUESTIONS, copied_index

FIRST_BYTE_S = 0.4
PLACES = 12
MOST_WAIT_S = 0.5
TIMES = 5
LEAST_GOODPUT = 0.9
MOST_SLOWER = 2.0
MOST_AFFECTED = 1.5
ALONE = 30
SETTINGS = {
    "ANTIPHON_CITATIONS": "native",
    "ANTIPHON_LOG_LEVEL": "error",
    "ANTIPHON_CONCURRENT_QUERIES": str(PLACES),
    "ANTIPHON_MOST_WAIT_S": str(MOST_WAIT_S),
    "ANTHROPIC_API_KEY": "none",
}


class Reply(NamedTuple):
    """One reply: its status, when it came, and how long it took."""

    status: int
    took_s: float
    retry_after: str | None


async def ask(client: httpx2.AsyncClient, number: int) -> Reply:
    """Asks one question."""
    began = time.perf_counter()
    question = {"query": QUESTIONS[number % len(QUESTIONS)]}
    reply = await client.post("/api/query", json=question)
    took_s = time.perf_counter() - began
    return Reply(reply.status_code, took_s, reply.headers.get("retry-after"))


async def at_capacity(client: httpx2.AsyncClient, seconds: float) -> list[Reply]:
    """Returns the replies to as many callers as there are places, each asking one question after another."""
    until = time.perf_counter() + seconds
    replies: list[Reply] = []

    async def ask_on() -> None:
        while time.perf_counter() < until:
            replies.append(await ask(client, len(replies)))

    await asyncio.gather(*(ask_on() for _ in range(PLACES)))
    return replies


async def overloaded(
    client: httpx2.AsyncClient, rate: float, seconds: float
) -> list[Reply]:
    """Returns the replies to questions that come at a rate of their own."""
    asking: list[asyncio.Task[Reply]] = []
    began = time.perf_counter()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        asking.append(asyncio.create_task(ask(client, number)))
    return list(await asyncio.gather(*asking))


def p99(times: Sequence[float]) -> float:
    """Returns the time that one in a hundred takes longer than."""
    return sorted(times)[min(len(times) - 1, int(len(times) * 0.99))]


async def overload(url: str, seconds: float) -> bool:
    """Prints goodput and times at five times the capacity; returns True if they are within bounds."""
    limits = httpx2.Limits(max_connections=1_000, max_keepalive_connections=200)
    async with httpx2.AsyncClient(base_url=url, timeout=120, limits=limits) as client:
        await at_capacity(client, 3.0)
        began = time.perf_counter()
        usual = await at_capacity(client, seconds)
        capacity = len(usual) / (time.perf_counter() - began)
        normal_s = p99([reply.took_s for reply in usual])
        Console().print(f"capacity: {capacity:.1f} a second, p99 {normal_s:.2f} s")
        began = time.perf_counter()
        replies = await overloaded(client, TIMES * capacity, seconds)
        took_s = time.perf_counter() - began
    admitted = [reply.took_s for reply in replies if reply.status == 200]
    goodput = len(admitted) / took_s / capacity
    slower = p99(admitted) / normal_s
    statuses = dict(Counter(reply.status for reply in replies))
    Console().print(
        f"offered {len(replies)} in {took_s:.1f} s, {TIMES} x capacity: {statuses}; goodput {goodput:.0%} of capacity; "
        f"p99 of admitted {p99(admitted):.2f} s, {slower:.2f} x normal"
    )
    all_told = told([reply for reply in replies if reply.status == 503])
    return goodput >= LEAST_GOODPUT and slower <= MOST_SLOWER and all_told


def told(refused: Sequence[Reply]) -> bool:
    """Prints how soon callers were refused, and when they are to come again; returns True if all were told that."""
    if not refused:
        return True
    times = [reply.took_s for reply in refused]
    waits = Counter(reply.retry_after for reply in refused)
    Console().print(
        f"refused after {statistics.median(times) * 1000:.0f} ms (median), {p99(times) * 1000:.0f} ms (p99); "
        f"Retry-After {dict(waits)}"
    )
    return None not in waits


class Crowd:
    """Connections that hold on to the service and do nothing for it."""

    def __init__(self, url: str, query_id: str) -> None:
        place = urlsplit(url)
        self._address = (place.hostname or "", place.port or 0)
        self._query_id = query_id
        self._held: list[socket.socket] = []

    def come(self, readers: int, idle: int) -> None:
        """Opens event streams that nobody reads, and connections on which nothing is sent."""
        follow = f"GET /api/traces/{self._query_id}/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(readers):
            self._connect().sendall(follow.encode())
        for _ in range(idle):
            self._connect()

    def leave(self) -> None:
        """Closes them all."""
        for each in self._held:
            each.close()
        self._held.clear()

    def _connect(self) -> socket.socket:
        connection = socket.socket()
        # So little is taken in by the system that the service has to keep the rest.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        connection.connect(self._address)
        self._held.append(connection)
        return connection


async def crowded(served: Served, readers: int, idle: int) -> bool:
    """Prints the time of questions alone and beside a crowd, in turns; returns True if it is about the same."""
    async with httpx2.AsyncClient(base_url=served.url, timeout=120) as client:
        asked = await client.post("/api/query", json={"query": QUESTIONS[0]})
        crowd = Crowd(served.url, asked.json()["query_id"])
        alone: list[float] = []
        beside: list[float] = []
        before_mb = served.resident_mb()
        most_mb = before_mb
        for _ in range(2):
            alone += [(await ask(client, number)).took_s for number in range(ALONE)]
            await asyncio.to_thread(crowd.come, readers, idle)
            beside += [(await ask(client, number)).took_s for number in range(ALONE)]
            most_mb = max(most_mb, served.resident_mb())
            crowd.leave()
            await asyncio.sleep(1)
    ratio = statistics.median(beside) / statistics.median(alone)
    Console().print(
        f"beside {readers} streams that nobody reads and {idle} idle connections: {ratio:.2f} x the time alone "
        f"({statistics.median(alone):.2f} s); memory {before_mb:.0f} MB, then {most_mb - before_mb:+.0f} MB"
    )
    return ratio <= MOST_AFFECTED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--readers", type=int, default=500)
    parser.add_argument("--idle", type=int, default=1_000)
    parser.add_argument("--index", type=Path, default=Path("data"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        data = copied_index(options.index, Path(name))
        model = [sys.executable, "-m", "benchmarks.scripted_model"]
        with serving([*model, "--first-byte-s", str(FIRST_BYTE_S)], "/") as replying:
            os.environ.update(SETTINGS | {"ANTHROPIC_BASE_URL": replying.url})
            with serving(
                [
                    sys.executable,
                    "-m",
                    "antiphon.cli",
                    "serve",
                    "--data-dir",
                    str(data),
                ],
                "/readyz",
            ) as own:
                is_good = asyncio.run(overload(own.url, options.seconds))
                is_calm = asyncio.run(crowded(own, options.readers, options.idle))
    if not (is_good and is_calm):
        sys.exit("out of bounds")


if __name__ == "__main__":
    main()
