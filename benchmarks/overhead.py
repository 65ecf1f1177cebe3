"""What a whole query costs beside a plain SDK loop that makes the same calls: `make bench`.

One query is three calls of the Messages API and three tool calls. Both sides run in this process, in turns, against
one double in a process of its own, over HTTP on loopback. CPU time is this process's, user and system, all threads.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from anthropic import AsyncAnthropic
from rich.console import Console
from rich.table import Table

from antiphon.bus import Bus, SystemClock
from antiphon.composition.caller import Caller
from antiphon.composition.wiring import Resources, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.engine import connect
from antiphon.traces import SqliteTraceStore
from antiphon.traces.appending import Packed
from antiphon.vocabulary.errors import SequenceError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.values import QuerySettings
from benchmarks import plain_loop
from benchmarks.processes import antiphon, serving
from benchmarks.tools import TOOLS

QUESTION = "How does BM25 rank documents?"
Query = Callable[[], Awaitable[object]]


class Forgetful:
    """A trace store that stores nothing: what appending costs is what a query costs less with it."""

    async def append(self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]) -> None:
        """Takes the events, and lets go of them."""


class OurSide:
    """Antiphon's own parts, wired by the real table, recording into SQLite, or nowhere."""

    def __init__(self, base_url: str, folder: Path, *, records: bool = True) -> None:
        clock = SystemClock()
        self.model = connect("key", base_url)
        registry = Registry([tool_from_function(run) for run in TOOLS.values()])
        self.store = SqliteTraceStore.open(folder)
        # The bus only ever appends.
        self.bus = Bus(self.store if records else cast(TraceStore, Forgetful()), clock)
        self.parts = Resources(
            clock=clock,
            models={"primary": self.model, "fallback": self.model},
            tools=registry,
            tool_definitions=registry.definitions(),
        )
        self.asked = 0

    async def ask(self) -> None:
        self.asked += 1
        caller = Caller()
        session = self.bus.open(f"query-{self.asked}", lambda ports: wire(self.parts, ports, caller).subscriptions())
        await session.run(receive(QUESTION, "bench", QuerySettings()))
        response = caller.outcome("", "").response
        if (response.calls, response.rounds) != (3, 2):
            raise SystemExit(f"a query made {response.calls} calls in {response.rounds} rounds, not 3 in 2: {response}")

    async def close(self) -> None:
        await self.bus.close()
        await self.model.aclose()
        await self.store.close()


async def cpu_ms(query: Query, queries: int, at_once: int) -> float:
    """CPU milliseconds a query."""
    before = time.process_time()
    for _ in range(queries // at_once):
        await asyncio.gather(*(query() for _ in range(at_once)))
    return (time.process_time() - before) * 1000 / (queries // at_once * at_once)


async def compare(base_url: str, rounds: int, queries: int) -> dict[str, list[float]]:
    """CPU a query of each side, one figure a round; the sides take turns within a round."""
    plain = AsyncAnthropic(base_url=base_url, api_key="key", max_retries=0)
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ours = OurSide(base_url, Path(folder))
        sides: dict[str, Query] = {
            "plain SDK loop, create()": lambda: plain_loop.ask(plain, QUESTION, stream=False),
            "plain SDK loop, stream=True": lambda: plain_loop.ask(plain, QUESTION, stream=True),
            "antiphon": ours.ask,
        }
        for number in range(rounds + 1):
            for at_once in (1, 32):
                for name, query in sides.items():
                    figure = await cpu_ms(query, queries, at_once)
                    if number:  # the first round warms up
                        figures.setdefault(f"{name} @{at_once}", []).append(figure)
        await ours.close()
    await plain.close()
    return figures


class Spent:
    """CPU seconds that the event loop's thread spends in a store's appends: rows, texts, commits."""

    def __init__(self, store: SqliteTraceStore) -> None:
        self._write = store._writer.write
        self.seconds = 0.0
        store._writer.write = self  # type: ignore[method-assign]  # it stands in for it

    def __call__(self, group: Sequence[Packed]) -> list[SequenceError | None]:
        began = time.thread_time()
        try:
            return self._write(group)
        finally:
            self.seconds += time.thread_time() - began


class Share(NamedTuple):
    """What appending takes of a query's CPU.

    Attributes:
        spent: The share that is spent in appends.
        saved: What a query costs less where nothing is stored: with the above, what storing does to caches and memory.
    """

    spent: float
    saved: float


async def appending_shares(base_url: str, queries: int) -> dict[int, Share]:
    """The shares one at a time and 32 at once, from queries that take turns with queries that are not recorded."""
    shares: dict[int, Share] = {}
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as unused:
        ours, forgetful = OurSide(base_url, Path(folder)), OurSide(base_url, Path(unused), records=False)
        spent = Spent(ours.store)
        for at_once in (1, 32):
            figures: list[tuple[float, float, float]] = []
            for _ in range(queries // at_once + 2):
                spent.seconds = 0.0
                recording = await cpu_ms(ours.ask, at_once, at_once)
                appends = spent.seconds * 1000 / at_once
                figures.append((recording, await cpu_ms(forgetful.ask, at_once, at_once), appends))
            recording, not_recording, appends = map(statistics.median, zip(*figures[2:], strict=True))
            shares[at_once] = Share(appends / recording, (recording - not_recording) / recording)
        await ours.close()
        await forgetful.close()
    return shares


def report(figures: dict[str, list[float]]) -> dict[str, object]:
    """Prints the table; returns what it says."""
    table = Table(title="CPU a query of three calls and three tool calls (ms)")
    for column in ("side", "best", "median", "ratio of best to create()", "ratio of best to stream=True"):
        table.add_column(column)
    rows: dict[str, object] = {}
    for name, values in figures.items():
        at_once = name.split("@")[1]
        best = min(values)
        ratios = [best / min(figures[f"plain SDK loop, {how} @{at_once}"]) for how in ("create()", "stream=True")]
        table.add_row(name, f"{best:.2f}", f"{statistics.median(values):.2f}", *(f"{ratio:.2f}" for ratio in ratios))
        rows[name] = {"best_ms": best, "median_ms": statistics.median(values), "ratio_create": ratios[0]}
    Console().print(table)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=96)
    parser.add_argument("--target", type=float, default=2.0, help="largest ratio to create() that passes")
    options = parser.parse_args()
    double = [
        sys.executable,
        "-m",
        "uvicorn",
        "benchmarks.double:app",
        "--log-level",
        "error",
        "--timeout-keep-alive",
        "600",
    ]
    with serving(double, "/healthz") as served:
        rows = report(asyncio.run(compare(served.url, options.rounds, options.queries)))
        shares = asyncio.run(appending_shares(served.url, options.queries * 6))
    for at_once, share in shares.items():
        Console().print(
            f"@{at_once}: {share.spent:.1%} of a query's CPU is spent in appending to its trace; "
            f"without a trace it costs {share.saved:.1%} less"
        )
    with serving(antiphon("serve"), "/readyz") as served:
        Console().print(f"cold start to ready: {served.ready_s:.1f} s; resident: {served.resident_mb():.0f} MB")
    worst = max(row["ratio_create"] for name, row in rows.items() if name.startswith("antiphon"))  # type: ignore[index]
    sys.exit(0 if worst <= options.target else f"the ratio is {worst:.2f}, the target is {options.target}")


if __name__ == "__main__":
    main()
