"""Queries per second by the number of workers, and CPU time per query compared with one process.

The model double takes a second for each of three calls, and each worker has a fixed number of places for queries. So
this measures whether places add up, not the speed of this machine. The CPU time of a query is that of API nodes and
workers together; a single process without NATS answers the same questions, in turns with the cluster.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import uuid
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.cluster.asking import Callers
from benchmarks.cluster.fleet import Member, api_node, model
from benchmarks.cluster.setting import cluster_setting, index_of_one

WORKERS = (1, 2, 4)
LEAST_LINEAR = 0.9
MOST_OVERHEAD = 1.25
FULL = 1.25
"""Callers for each place: enough that no place is ever empty."""


async def rate(urls: list[str], places: int, seconds: float) -> float:
    """Returns the queries answered per second with all places taken."""
    callers = Callers(urls, uuid.uuid4().hex[:8])
    at_once = int(places * FULL)
    try:
        # Warms up until every place is taken and queries end evenly.
        await callers.ask(at_once, at_once)
        return await callers.ask_for(seconds, at_once) / seconds
    finally:
        await callers.close()


async def cpu_a_query(
    urls: list[str], members: Iterable[Member], queries: int, at_once: int
) -> float:
    """Returns the CPU milliseconds that the members use per query."""
    members = list(members)
    callers = Callers(urls, uuid.uuid4().hex[:8], keyed=False)
    try:
        await callers.ask(at_once, at_once)
        before = sum(member.cpu_s() for member in members)
        await callers.ask(queries, at_once)
        spent_s = sum(member.cpu_s() for member in members) - before
    finally:
        await callers.close()
    return spent_s * 1000 / queries


def throughput(folder: Path, places: int, seconds: float) -> bool:
    """Prints queries per second by the number of workers; returns True if they add up."""
    table = Table("workers", "places", "queries/s", "of linear")
    first = 0.0
    linear = 1.0
    for count in WORKERS:
        with cluster_setting(
            folder / f"w{count}", workers=count, apis=2, servers=1, concurrency=places
        ) as setting:
            found = asyncio.run(rate(setting.urls, places * count, seconds))
        first = first or found
        linear = found / (first * count)
        table.add_row(f"{count}", f"{places * count}", f"{found:.2f}", f"{linear:.2f}")
    Console().print(table)
    return linear >= LEAST_LINEAR


def overhead(folder: Path, queries: int, turns: int) -> bool:
    """Prints the CPU time of a query in one process and in a cluster of two; returns True if it is not much more."""
    alone: list[float] = []
    spread: list[float] = []
    servers: list[float] = []
    at_once = 16
    double, model_url = model(folder, 0.05)
    double.start()
    double.wait()
    one, url = api_node(
        folder,
        "one",
        {
            "ANTIPHON_DATA_DIR": str(index_of_one(folder)),
            "ANTIPHON_CITATIONS": "native",
            "ANTIPHON_LOG_LEVEL": "error",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": model_url,
        },
    )
    one.start()
    try:
        one.wait()
        with cluster_setting(
            folder / "cluster", workers=1, apis=1, servers=1, latency_s=0.05
        ) as setting:
            both = [*setting.apis, *setting.workers]
            for _ in range(turns):
                alone.append(asyncio.run(cpu_a_query([url], [one], queries, at_once)))
                before = sum(member.cpu_s() for member in setting.nats)
                spread.append(
                    asyncio.run(cpu_a_query(setting.urls, both, queries, at_once))
                )
                spent_s = sum(member.cpu_s() for member in setting.nats) - before
                servers.append(spent_s * 1000 / (queries + at_once))
    finally:
        one.end()
        double.end()
    ratio = min(spread) / min(alone)
    Console().print(
        f"CPU a query: {min(alone):.1f} ms in one process, {min(spread):.1f} ms in API node and worker "
        f"({ratio:.2f} x), and {min(servers):.1f} ms in the NATS server"
    )
    return ratio <= MOST_OVERHEAD


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=12, help="of each worker")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        adds_up = throughput(Path(folder), options.places, options.seconds)
        cheap = overhead(Path(folder), options.queries, options.turns)
    if not (adds_up and cheap):
        sys.exit("a target is missed")


if __name__ == "__main__":
    main()
