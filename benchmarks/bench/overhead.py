"""CPU time of a whole query compared with a plain SDK loop that makes the same calls: `make bench`.

One query is three calls of the Messages API and three tool calls. Both sides run in this process, in turns, against
one double in another process, over HTTP on loopback. CPU time is this process's, user and system, all threads.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from anthropic import AsyncAnthropic
from rich.console import Console
from rich.table import Table

from antiphon.composition import Outcome
from antiphon.engine import connect
from antiphon.traces import SqliteTraceStore
from antiphon.traces.packing import Packed
from antiphon.vocabulary.errors import SequenceError
from benchmarks.bench import plain_loop
from benchmarks.bench.our_side import OurSide
from benchmarks.processes import antiphon, serving

CREATE = "plain SDK loop, create()"
STREAM = "plain SDK loop, stream=True"
ANTIPHON = "antiphon"
FOLLOWED = "antiphon, read live"
QUESTION = "How does BM25 rank documents?"
# Simultaneous queries: one alone, and as many as in a busy service.
AT_ONCE = (1, 32)
# Pairs of measurements before the first one that counts.
WARM_UPS = 2
Query = Callable[[], Awaitable[object]]


class Asker:
    """Antiphon's side of the comparison: the same question over and over, each time as a new query."""

    def __init__(self, side: OurSide) -> None:
        self._side = side
        self._asked = 0

    async def ask(self) -> None:
        self._check(await self._side.ask(self._next_id(), QUESTION))

    async def follow(self) -> None:
        """Asks with a reader who follows the answer live."""
        self._check(await self._side.follow(self._next_id(), QUESTION))

    def _next_id(self) -> str:
        self._asked += 1
        return f"query-{self._asked}"

    def _check(self, outcome: Outcome) -> None:
        response = outcome.response
        if (response.calls, response.rounds) != (3, 2):
            raise SystemExit(
                f"a query made {response.calls} calls in {response.rounds} rounds, not 3 in 2: {response}"
            )


async def cpu_ms(query: Query, queries: int, at_once: int) -> float:
    """Returns the CPU milliseconds per query."""
    batches = queries // at_once
    before = time.process_time()
    for _ in range(batches):
        asking = []
        for _ in range(at_once):
            asking.append(query())
        await asyncio.gather(*asking)
    return (time.process_time() - before) * 1000 / (batches * at_once)


class Side(NamedTuple):
    """One way to answer a question, at one load."""

    name: str
    at_once: int


async def compare(base_url: str, rounds: int, queries: int) -> dict[Side, list[float]]:
    """Returns the CPU time per query of each side, one figure for each round; the sides take turns within a round."""
    model = connect("key", base_url)
    figures: dict[Side, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        ours = OurSide(model, list(plain_loop.TOOLS.values()), Path(folder))
        asker = Asker(ours)
        # A client for each load: httpx looks at every kept connection for each request, so those that 32 simultaneous
        # queries leave open would cost time in the measurement of single ones.
        clients: list[AsyncAnthropic] = []
        queries_of: dict[Side, Query] = {}
        for at_once in AT_ONCE:
            plain = AsyncAnthropic(base_url=base_url, api_key="key", max_retries=0)
            clients.append(plain)
            ask = partial(plain_loop.ask, plain, QUESTION)
            queries_of[Side(CREATE, at_once)] = partial(ask, stream=False)
            queries_of[Side(STREAM, at_once)] = partial(ask, stream=True)
            queries_of[Side(ANTIPHON, at_once)] = asker.ask
            queries_of[Side(FOLLOWED, at_once)] = asker.follow
        # One extra round: the first warms up.
        for number in range(rounds + 1):
            for side, query in queries_of.items():
                figure = await cpu_ms(query, queries, side.at_once)
                if number > 0:
                    figures.setdefault(side, []).append(figure)
        await ours.close()
    await model.aclose()
    for plain in clients:
        await plain.close()
    return figures


class AppendClock:
    """CPU seconds that the event loop's thread spends in a store's appends: rows, texts, commits."""

    def __init__(self, store: SqliteTraceStore) -> None:
        self._write = store._writer.write
        self.seconds = 0.0
        store._writer.write = self  # type: ignore[method-assign]  # it wraps the method

    def __call__(self, group: Sequence[Packed]) -> list[SequenceError | None]:
        began = time.thread_time()
        try:
            return self._write(group)
        finally:
            self.seconds += time.thread_time() - began


class Share(NamedTuple):
    """The part of a query's CPU time that appending takes.

    Attributes:
        spent: The share spent in appends.
        saved: The saving if nothing is stored; it also includes the effect of storing on caches and memory.
    """

    spent: float
    saved: float


async def appending_shares(base_url: str, queries: int) -> dict[int, Share]:
    """Returns the shares by load, from recorded queries that take turns with unrecorded ones."""
    shares: dict[int, Share] = {}
    model = connect("key", base_url)
    functions = list(plain_loop.TOOLS.values())
    with (
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as unused,
    ):
        recording = OurSide(model, functions, Path(folder))
        forgetful = OurSide(model, functions, Path(unused), records=False)
        appends = AppendClock(recording.store)
        recorded, unrecorded = Asker(recording), Asker(forgetful)
        for at_once in AT_ONCE:
            shares[at_once] = await _appending_share(
                recorded, unrecorded, appends, queries // at_once, at_once
            )
        await recording.close()
        await forgetful.close()
    await model.aclose()
    return shares


async def _appending_share(
    recorded: Asker, unrecorded: Asker, appends: AppendClock, times: int, at_once: int
) -> Share:
    with_store: list[float] = []
    without_store: list[float] = []
    in_appends: list[float] = []
    for number in range(times + WARM_UPS):
        appends.seconds = 0.0
        recorded_ms = await cpu_ms(recorded.ask, at_once, at_once)
        appends_ms = appends.seconds * 1000 / at_once
        unrecorded_ms = await cpu_ms(unrecorded.ask, at_once, at_once)
        if number >= WARM_UPS:
            with_store.append(recorded_ms)
            without_store.append(unrecorded_ms)
            in_appends.append(appends_ms)
    whole = statistics.median(with_store)
    spent = statistics.median(in_appends) / whole
    return Share(spent=spent, saved=(whole - statistics.median(without_store)) / whole)


def report(figures: dict[Side, list[float]]) -> float:
    """Prints the table; returns the worst of our ratios to `create()`."""
    table = Table(
        *(
            "side",
            "best",
            "median",
            "ratio of best to create()",
            "ratio of best to stream=True",
        ),
        title="CPU a query of three calls and three tool calls (ms)",
    )
    worst = 0.0
    for side, values in figures.items():
        best = min(values)
        to_create = best / min(figures[Side(CREATE, side.at_once)])
        to_stream = best / min(figures[Side(STREAM, side.at_once)])
        table.add_row(
            *(
                f"{side.name} @{side.at_once}",
                f"{best:.2f}",
                f"{statistics.median(values):.2f}",
            ),
            *(f"{to_create:.2f}", f"{to_stream:.2f}"),
        )
        if side.name == ANTIPHON:
            worst = max(worst, to_create)
    Console().print(table)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--queries", type=int, default=96)
    parser.add_argument(
        "--target",
        type=float,
        default=2.0,
        help="largest ratio to create() that passes",
    )
    options = parser.parse_args()
    double = [
        *(sys.executable, "-m", "uvicorn", "benchmarks.double:app"),
        # Connections stay open between the rounds of a side.
        *("--log-level", "error", "--timeout-keep-alive", "600"),
    ]
    with serving(double, "/healthz") as served:
        worst = report(
            asyncio.run(compare(served.url, options.rounds, options.queries))
        )
        shares = asyncio.run(appending_shares(served.url, options.queries * 6))
    for at_once, share in shares.items():
        Console().print(
            f"@{at_once}: {share.spent:.1%} of a query's CPU is spent in appending to its trace; "
            f"without a trace it costs {share.saved:.1%} less"
        )
    with serving(antiphon("serve"), "/readyz") as served:
        Console().print(
            f"cold start to ready: {served.ready_s:.1f} s; resident: {served.resident_mb():.0f} MB"
        )
    if worst > options.target:
        sys.exit(f"the ratio is {worst:.2f}, the target is {options.target}")


if __name__ == "__main__":
    main()
