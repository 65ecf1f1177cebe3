"""Kills everything once under load, and checks that every query still ends once, with a whole trace.

QUERIES questions go to two API nodes with four workers behind them. Meanwhile it kills (-9) and restarts a worker, an
API node, the leader of the traces' stream and Chroma, one after another, and pauses a worker until others have taken
its queries over. Then it reads and checks every trace.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
from rich.console import Console

from benchmarks.cluster.asking import Callers, read_trace
from benchmarks.cluster.checking import Findings
from benchmarks.cluster.fleet import Member
from benchmarks.cluster.setting import Setting, cluster_setting

AWAY_S = 2.0
STARTS = 5
PAUSED_S = 45.0
"""Longer than a claim lasts without a heartbeat."""
AT_ONCE = 150
CALLS_A_QUERY = 3

Trouble = tuple[str, Callable[[Setting], Awaitable[Member]]]


async def kill_worker(setting: Setting) -> Member:
    """Kills a worker, and restarts it a while later."""
    return await _kill(setting.workers[0])


async def kill_api(setting: Setting) -> Member:
    """Kills an API node, so that its callers go to the other."""
    return await _kill(setting.apis[0])


async def kill_leader(setting: Setting) -> Member:
    """Kills the NATS server that leads the stream of traces."""
    return await _kill(await setting.leader_of_traces())


async def kill_chroma(setting: Setting) -> Member:
    """Kills the vector server, so that searches go on by words alone."""
    return await _kill(setting.chroma)


async def pause_worker(setting: Setting) -> Member:
    """Pauses a worker until others have taken its queries over, and wakes it."""
    paused = setting.workers[1]
    paused.send(signal.SIGSTOP)
    await asyncio.sleep(PAUSED_S)
    paused.send(signal.SIGCONT)
    return paused


async def _kill(member: Member) -> Member:
    member.kill()
    await asyncio.sleep(AWAY_S)
    for _ in range(STARTS):
        member.start()
        try:
            await asyncio.to_thread(member.wait)
            return member
        # It started while something it needs was away (a node without Chroma, say): restart it like a supervisor.
        except SystemExit:
            await asyncio.sleep(AWAY_S)
    raise SystemExit(f"{member.name} was started {STARTS} times and ended each time")


TROUBLES: tuple[Trouble, ...] = (
    ("worker killed", kill_worker),
    ("worker paused and woken", pause_worker),
    ("leader of the traces killed", kill_leader),
    ("API node killed", kill_api),
    ("Chroma killed", kill_chroma),
)


async def cause(setting: Setting, reached: list[int], queries: int) -> None:
    """Makes one trouble after another, spread over the queries, and waits until all is back."""
    under_way: list[asyncio.Task[None]] = []
    for number, (name, make) in enumerate(TROUBLES, 1):
        due = queries * number // (len(TROUBLES) + 2)
        # Polls, because the callers' count has no event to wait for.
        while reached[0] < due:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        Console().print(f"  {name} after {reached[0]} answers")
        # The next one does not wait for this, so that a worker is paused while others are killed.
        under_way.append(asyncio.create_task(_make(name, make, setting)))
    await asyncio.gather(*under_way)


async def _make(
    name: str, make: Callable[[Setting], Awaitable[Member]], setting: Setting
) -> None:
    began = time.monotonic()
    member = await make(setting)
    Console().print(
        f"  {member.name} is back {time.monotonic() - began:.1f} s after {name!r}"
    )


async def load(setting: Setting, queries: int) -> tuple[Callers, Findings]:
    """Asks all questions during the troubles; returns the answers and the findings in the traces."""
    reached = [0]

    def note(answered: int) -> None:
        reached[0] = answered

    callers = Callers(setting.urls, uuid.uuid4().hex[:8], note)
    troubles = asyncio.create_task(cause(setting, reached, queries))
    await callers.ask(queries, AT_ONCE)
    await troubles
    findings = Findings()
    async with httpx2.AsyncClient(timeout=60) as client:
        for answer in callers.answered:
            events = await read_trace(client, setting.urls, answer.query_id)
            findings.take(answer.query_id, events)
    await callers.close()
    return callers, findings


def report(
    callers: Callers, findings: Findings, requests: int, queries: int, took_s: float
) -> bool:
    """Prints the outcome of all queries; returns True if every promise was kept."""
    console = Console()
    ids = {answer.query_id for answer in callers.answered}
    times = sorted(answer.took_s for answer in callers.answered)
    tried_again = sum(answer.tries > 1 for answer in callers.answered)
    console.print(
        f"{len(ids)} of {queries} queries answered in {took_s:.0f} s ({dict(findings.statuses)}); "
        f"median {times[len(times) // 2]:.1f} s, longest {times[-1]:.1f} s; {tried_again} callers asked again; "
        f"HTTP {dict(callers.statuses)}"
    )
    console.print(
        f"{findings.traces} traces, {findings.events} events; {findings.resumed} taken over; "
        f"{findings.repeated} calls begun again; {requests} requests to the model for {findings.calls} outcomes"
    )
    for line in findings.wrong[:20]:
        console.print(f"  WRONG {line}")
    kept = not findings.wrong and not callers.unanswered and len(ids) == queries
    console.print("every query ended once, every trace is whole" if kept else "BROKEN")
    return kept


def requests_to(url: str) -> int:
    """Returns the number of requests to the model double."""
    with urllib.request.urlopen(f"{url}/counts", timeout=5) as reply:
        return int(json.load(reply)["requests"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds a call")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster_setting(
            Path(folder), workers=options.workers, apis=2, latency_s=options.latency
        ) as setting,
    ):
        began = time.monotonic()
        callers, findings = asyncio.run(load(setting, options.queries))
        took_s = time.monotonic() - began
        requests = requests_to(setting.model_url)
    if not report(callers, findings, requests, options.queries, took_s):
        sys.exit(1)


if __name__ == "__main__":
    main()
