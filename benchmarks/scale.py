"""How cost grows with work, as exponents: `make bench-scale`.

Each row takes one kind of work several times as much again and again, and fits cost = a · work^b: b is 1 if cost
grows in step with work, and 0 if it does not grow. CPU is this process's, the least of several runs.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from antiphon.service import replay
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.ports import TraceFilter
from antiphon.vocabulary.values import QuerySettings
from benchmarks.fitting import Point, exponent
from benchmarks.history import remember
from benchmarks.our_side import OurSide
from benchmarks.processes import log_errors_only
from benchmarks.store import fill, one_trace
from benchmarks.working_model import Tools, Work, WorkingModel

QUESTION = "How does BM25 rank documents?"
LINEAR = 1.15
"""The largest exponent that still counts as in step: caches and memory cost a little more if there is more."""
TIMES = 3
# Calls of one round; the rounds of a query make the rest.
CALLS = ((1, 1), (1, 4), (2, 8), (2, 20), (4, 30), (4, 60))
FACTS = (5, 20, 80, 320)
AT_ONCE = (1, 10, 100, 1_000)
IN_FLIGHT = (100, 300, 1_000)
TRACES = (1_000, 10_000, 100_000)
LATENCY_S = 0.2


class Row(NamedTuple):
    """One kind of work, its cost at several amounts, and the largest exponent that passes."""

    work: str
    cost: str
    points: list[Point]
    most: float = LINEAR


class Query:
    """One query with so much work, over and over."""

    def __init__(self, folder: Path, work: Work) -> None:
        tools = Tools(work.passages)
        functions = [tools.search_course_content]
        self._work = work
        self._asked = 0
        self.folder = folder
        self.side = OurSide(WorkingModel(work), functions, folder)
        # More than any work here, so that no limit cuts it short.
        self._settings = QuerySettings(
            max_rounds=work.rounds, max_tool_calls=64, deadline_s=600.0
        )

    async def ask(self) -> str:
        """Asks once; returns the query's id."""
        self._asked += 1
        query_id = f"query-{self._asked}"
        outcome = await self.side.ask(query_id, QUESTION, self._settings)
        response = outcome.response
        if response.rounds != self._work.rounds:
            raise SystemExit(f"a query ended early: {response}")
        return query_id


async def least_cpu_ms(
    work: Callable[[], Awaitable[object]], times: int = TIMES
) -> float:
    """Returns the least CPU of several runs, after one that warms up."""
    least = float("inf")
    for number in range(times + 1):
        before = time.process_time()
        await work()
        took = (time.process_time() - before) * 1000
        if number > 0:
            least = min(least, took)
    return least


async def events_a_query() -> list[Row]:
    """Measures queries of more and more tool calls: their CPU, what is stored of them, and their replay."""
    cpu: list[Point] = []
    stored: list[Point] = []
    replayed: list[Point] = []
    for rounds, calls in CALLS:
        work = Work(rounds=rounds, calls=calls, passages=1)
        with tempfile.TemporaryDirectory() as folder:
            query = Query(Path(folder), work)
            cpu_ms = await least_cpu_ms(query.ask)
            events = list(await query.side.store.read(await query.ask()))
            stored_bytes = await _stored_bytes(query)
            await query.side.close()
        count = len(events)
        cpu.append(Point(count, cpu_ms))
        stored.append(Point(count, stored_bytes))
        replayed.append(Point(count, _replay_ms(partial(replay, events))))
    return [
        Row("events a query", "CPU, ms", cpu),
        Row("events a query", "bytes stored", stored),
        Row("events a query", "CPU of a replay, ms", replayed),
    ]


def _replay_ms(again: Callable[[], object]) -> float:
    least = float("inf")
    for _ in range(TIMES):
        before = time.process_time()
        again()
        least = min(least, (time.process_time() - before) * 1000)
    return least


async def _stored_bytes(query: Query) -> float:
    """Returns the bytes that one more query adds to the database."""
    before = _database_bytes(query)
    times = 20
    for _ in range(times):
        await query.ask()
    return (_database_bytes(query) - before) / times


def _database_bytes(query: Query) -> int:
    return sum(path.stat().st_size for path in query.folder.iterdir())


async def facts() -> list[Row]:
    """Measures queries whose tool brings more and more passages."""
    points: list[Point] = []
    for passages in FACTS:
        with tempfile.TemporaryDirectory() as folder:
            query = Query(Path(folder), Work(rounds=2, calls=1, passages=passages))
            points.append(Point(passages * 2, await least_cpu_ms(query.ask)))
            await query.side.close()
    return [Row("facts", "CPU, ms", points)]


async def at_once() -> list[Row]:
    """Measures more and more queries at the same time, each waiting for its model most of its life."""
    cpu: list[Point] = []
    for count in AT_ONCE:
        with tempfile.TemporaryDirectory() as folder:
            query = Query(Path(folder), Work(latency_s=LATENCY_S))
            cpu.append(
                Point(count, await least_cpu_ms(partial(together, query, count), 2))
            )
            await query.side.close()
    # Each in a process of its own: memory that was used once is there for the next.
    memory = [Point(count, in_flight_kib(count)) for count in IN_FLIGHT]
    return [
        Row("queries at once", "CPU of all, ms", cpu),
        Row("queries at once", "memory of all, KiB", memory),
    ]


async def together(query: Query, count: int) -> None:
    """Asks so many questions at the same time."""
    await asyncio.gather(*[query.ask() for _ in range(count)])


def in_flight_kib(count: int) -> float:
    """Returns the memory that so many queries hold together in a process that has answered some before."""
    measured = subprocess.run(
        [sys.executable, "-m", "benchmarks.in_flight", str(count)],
        capture_output=True,
        check=True,
        text=True,
    )
    return float(measured.stdout.split()[-1])


async def traces() -> list[Row]:
    """Measures a store with more and more traces: adding to it, listing, finding and reading."""
    filling: list[Point] = []
    costs: dict[str, list[Point]] = {}
    with tempfile.TemporaryDirectory() as name:
        template = await one_trace(Path(name))
    for count in TRACES:
        with tempfile.TemporaryDirectory() as name:
            store = SqliteTraceStore.open(Path(name))
            before = time.process_time()
            fill(store, template, count)
            filling.append(Point(count, (time.process_time() - before) * 1000))
            middle = f"q{count // 2:06}"
            asked: dict[str, Callable[[], Awaitable[object]]] = {
                "listing 50, ms": partial(store.list, 50),
                "listing 50 by course, ms": partial(
                    store.list, 50, where=TraceFilter(course="Course 7")
                ),
                "the next 50, ms": partial(store.list, 50, after_id=middle),
                "reading one, ms": partial(store.read, middle),
            }
            for cost, work in asked.items():
                took = await least_cpu_ms(work, 9)
                costs.setdefault(cost, []).append(Point(count, took))
            await store.close()
    rows = [Row("traces stored", "CPU of adding all, ms", filling)]
    for cost, points in costs.items():
        rows.append(Row("traces stored", cost, points, most=0.3))
    return rows


PARTS: dict[str, Callable[[], Coroutine[Any, Any, list[Row]]]] = {
    "events": events_a_query,
    "facts": facts,
    "at-once": at_once,
    "traces": traces,
}


def report(rows: Sequence[Row], console: Console) -> list[str]:
    """Prints the exponents; returns what grows faster than it may."""
    table = Table(
        "work", "cost", "from … to", "exponent", "may be", title="cost = a · work^b"
    )
    steep = []
    for row in rows:
        line = exponent(row.points)
        measured = "  ".join(
            f"{each.work:,.0f}: {each.cost:,.1f}" for each in row.points
        )
        table.add_row(
            *(row.work, row.cost, measured),
            *(f"{line.slope:.2f} ± {line.noise:.2f}", f"{row.most:.2f}"),
        )
        if line.slope - line.noise > row.most:
            steep.append(f"{row.cost} by {row.work}")
    console.print(table)
    return steep


def main() -> None:
    log_errors_only()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: all")
    options = parser.parse_args()
    rows: list[Row] = []
    for part in options.parts or PARTS:
        rows += asyncio.run(PARTS[part]())
    steep = report(rows, Console(width=160))
    figures = {f"{row.cost} by {row.work}": exponent(row.points).slope for row in rows}
    remember("scale", figures)
    if steep:
        sys.exit(f"grows faster than its work: {', '.join(steep)}")


if __name__ == "__main__":
    main()
