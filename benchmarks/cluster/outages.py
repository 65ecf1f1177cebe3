"""Makes storing impossible for a while, under load, and checks that everything acknowledged survives.

Callers ask two API nodes all the time, half of them for an answer and half for a 202. Meanwhile two of three NATS
servers are killed and restarted, or the stream of traces is full for a while. The callers list what the nodes
acknowledged: each of those traces must exist, be whole, and end once. No caller may wait more than two seconds beyond
the deadline.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from rich.console import Console

from antiphon.cluster import Cluster, connect
from benchmarks.cluster.asking import PAUSE_S, QUESTIONS, read_trace
from benchmarks.cluster.checking import Findings, problems_of
from benchmarks.cluster.setting import Setting, cluster_setting

CALLERS = 24
EVERY_S = 2.0
"""Seconds between two questions of a caller who does not wait for answers."""
DEADLINE_S = 10.0
MOST_LATE_S = 2.0
BEFORE_S = 5.0
SETTLED_S = 120.0
"""Seconds after an outage within which all acknowledged queries must end."""
REPEATED = ("query_taken_over", "query_not_stored", "query_not_resumed")
"""The log lines of nodes and workers about work that could not be stored."""

Outage = Callable[[Setting, float], Coroutine[None, None, None]]


@dataclass
class Told:
    """The replies that all callers got.

    Attributes:
        acknowledged: The queries with a 202 or an answer.
        statuses: Replies by path and status.
        longest_s: The longest wait for a reply.
        unready_s: Seconds from the outage until both nodes reported that they were not ready.
    """

    acknowledged: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    longest_s: float = 0.0
    unready_s: float = 0.0

    def take(self, path: str, reply: httpx2.Response, took_s: float) -> None:
        """Notes a reply."""
        self.longest_s = max(self.longest_s, took_s)
        self.statuses[f"{reply.status_code} {path}"] += 1
        if reply.status_code in (200, 202):
            self.acknowledged.append(reply.json()["query_id"])


async def most_servers_away(setting: Setting, seconds: float) -> None:
    """Kills two of three NATS servers, and restarts them after `seconds`."""
    for member in setting.nats[1:]:
        await asyncio.to_thread(member.kill)
    await asyncio.sleep(seconds)
    for member in setting.nats[1:]:
        member.start()


async def stream_full(setting: Setting, seconds: float) -> None:
    """Limits the stream of traces to its present size, and lifts the limit after `seconds`."""
    async with _connected(setting) as cluster:
        await _limit(cluster, is_full=True)
        await asyncio.sleep(seconds)
        await _limit(cluster, is_full=False)


async def _limit(cluster: Cluster, *, is_full: bool) -> None:
    info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
    info.config.max_bytes = -1
    if is_full:
        info.config.max_bytes = info.state.bytes
    await cluster.jetstream.update_stream(info.config)


@asynccontextmanager
async def _connected(setting: Setting) -> AsyncIterator[Cluster]:
    cluster = await connect(setting.nats_url, name="benchmark")
    try:
        yield cluster
    finally:
        await cluster.close()


OUTAGES: dict[str, Outage] = {
    "most NATS servers away": most_servers_away,
    "stream of traces full": stream_full,
}


async def load(setting: Setting, outage: Outage, seconds: float) -> Told:
    """Asks before, during and after an outage; returns the callers' replies."""
    told = Told()
    over = asyncio.Event()
    limits = httpx2.Limits(max_connections=2 * CALLERS)
    async with httpx2.AsyncClient(timeout=60, limits=limits) as client:
        asking = [
            asyncio.create_task(_ask_on(client, setting.urls, number, told, over))
            for number in range(CALLERS)
        ]
        await asyncio.sleep(BEFORE_S)
        began = time.monotonic()
        happening = asyncio.create_task(outage(setting, seconds))
        await _until_ready(client, setting.urls, status=503)
        told.unready_s = time.monotonic() - began
        await happening
        await _until_ready(client, setting.urls, status=200)
        await asyncio.sleep(BEFORE_S)
        over.set()
        await asyncio.gather(*asking)
    return told


async def _ask_on(
    client: httpx2.AsyncClient,
    urls: list[str],
    number: int,
    told: Told,
    over: asyncio.Event,
) -> None:
    path = ("/api/query", "/api/queries")[number % 2]
    url = urls[number // 2 % len(urls)]
    while not over.is_set():
        question = f"{QUESTIONS[number % len(QUESTIONS)]} ({uuid.uuid4().hex[:6]})"
        began = time.monotonic()
        reply = await client.post(
            f"{url}{path}", json={"query": question, "deadline_s": DEADLINE_S}
        )
        told.take(path, reply, time.monotonic() - began)
        if reply.status_code != 200:
            await asyncio.sleep(EVERY_S)


async def _until_ready(
    client: httpx2.AsyncClient, urls: list[str], status: int
) -> None:
    for url in urls:
        # Polls, because a node does not announce its state.
        while (await client.get(f"{url}/readyz")).status_code != status:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def look(setting: Setting, told: Told) -> Findings:
    """Reads the traces of all acknowledged queries, once each has ended."""
    findings = Findings()
    until = time.monotonic() + SETTLED_S
    async with httpx2.AsyncClient(timeout=60) as client:
        for query_id in told.acknowledged:
            try:
                events = await read_trace(client, setting.urls, query_id)
                while problems_of(events) and time.monotonic() < until:
                    await asyncio.sleep(PAUSE_S)
                    events = await read_trace(client, setting.urls, query_id)
            except LookupError:
                findings.wrong.append(f"{query_id}: acknowledged, and lost")
                continue
            findings.take(query_id, events)
    return findings


def repeated(setting: Setting) -> Iterator[str]:
    """Yields the number of log lines about work that could not be stored, for each kind."""
    logs = "".join(
        member.log.read_text(errors="replace")
        for member in [*setting.apis, *setting.workers]
    )
    for each in REPEATED:
        yield f"{logs.count(each)} {each}"


def measure(name: str, workers: int, seconds: float) -> bool:
    """Makes one outage and prints the results; returns True if all promises were kept."""
    settings = {"ANTIPHON_LOG_LEVEL": "warning"}
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster_setting(
            Path(folder), workers=workers, apis=2, extra=settings
        ) as setting,
    ):
        told = asyncio.run(load(setting, OUTAGES[name], seconds))
        findings = asyncio.run(look(setting, told))
        logged = ", ".join(repeated(setting))
    console = Console()
    console.print(
        f"{name} for {seconds:.0f} s: {dict(told.statuses)}; longest wait {told.longest_s:.1f} s with a deadline of "
        f"{DEADLINE_S:.0f}; not ready after {told.unready_s:.1f} s"
    )
    console.print(
        f"{len(told.acknowledged)} acknowledged, {findings.traces} traces there ({dict(findings.statuses)}), "
        f"{findings.resumed} gone on with; logged: {logged}"
    )
    for line in findings.wrong[:20]:
        console.print(f"  WRONG {line}")
    kept = not findings.wrong and told.longest_s <= DEADLINE_S + MOST_LATE_S
    console.print("nothing acknowledged was lost, nobody waited" if kept else "BROKEN")
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each outage")
    options = parser.parse_args()
    kept = [measure(name, options.workers, options.seconds) for name in OUTAGES]
    if not all(kept):
        sys.exit(1)


if __name__ == "__main__":
    main()
