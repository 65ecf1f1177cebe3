"""Every figure of the service's own speed in one run: `make bench`; stored in the data folder and plotted over runs.

Stages of a query, events and appends a second, the query beside a plain SDK loop, memory per query in flight, cold
start, index and search by the size of the library, and what a question costs with the usual model.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.table import Table

from antiphon.service import load_settings
from benchmarks.bench import dollars, overhead, rates, size, stages, starting
from benchmarks.bench.history import machine, remember
from benchmarks.bench.in_flight import in_flight_kib
from benchmarks.processes import log_errors_only, serving

IN_FLIGHT = 300
CHUNKS = (1_000, 10_000)

Figures = dict[str, float]


def stage_figures() -> Figures:
    """The CPU time of a query without HTTP, by stage, in ms."""
    found: Figures = {}
    for stage, cpu_ms in asyncio.run(stages.measure()).items():
        found[f"{stage}, CPU ms"] = cpu_ms
    return found


def rate_figures() -> Figures:
    """The rates of the bus alone, and of the trace store alone."""
    return asyncio.run(rates.measure())


def overhead_figures(rounds: int = 3, queries: int = 96) -> Figures:
    """A query compared with a plain SDK loop that makes the same calls, over HTTP."""
    double = [
        *(sys.executable, "-m", "uvicorn", "benchmarks.double:app"),
        *("--log-level", "error", "--timeout-keep-alive", "600"),
    ]
    found: Figures = {}
    with serving(double, "/healthz") as served:
        measured = asyncio.run(overhead.compare(served.url, rounds, queries))
        shares = asyncio.run(overhead.appending_shares(served.url, queries))
    for side, cpu_ms in measured.items():
        found[f"{side.name} @{side.at_once}, CPU ms"] = min(cpu_ms)
    for at_once in overhead.AT_ONCE:
        ours = min(measured[overhead.Side(overhead.ANTIPHON, at_once)])
        plain = min(measured[overhead.Side(overhead.CREATE, at_once)])
        found[f"antiphon by plain loop @{at_once}"] = ours / plain
        found[f"share of appending @{at_once}"] = shares[at_once].spent
        found[f"share saved where nothing is stored @{at_once}"] = shares[at_once].saved
    return found


def memory_figures() -> Figures:
    """The memory of queries that wait for their model."""
    return {"memory a query in flight, KiB": in_flight_kib(IN_FLIGHT) / IN_FLIGHT}


def library_figures(chunks: Iterable[int]) -> Figures:
    """Index and search, without the embedder in the index."""
    found: Figures = {}
    for count in chunks:
        folder = load_settings().data_dir / "bench" / f"library-{count}"
        for name, figure in size.figures_of(count, folder).items():
            found[f"{count:,} chunks: {name}"] = figure
    return found


def dollar_figures() -> Figures:
    """US dollars for a thousand questions to the usual model, by the API's documented prices."""
    model = load_settings().model
    with dollars.double_at(None) as url:
        costs = asyncio.run(
            dollars.measure(url, [model], dollars.sample_questions(), dollars.WORK)
        )
    return dollars.figures(costs)


def parts(chunks: Iterable[int]) -> dict[str, Callable[[], Figures]]:
    """Returns the parts of the report by their names."""
    return {
        "stages": stage_figures,
        "rates": rate_figures,
        "overhead": overhead_figures,
        "memory": memory_figures,
        "start": starting.measure,
        "library": partial(library_figures, chunks),
        "dollars": dollar_figures,
    }


def shown(title: str, figures: Figures) -> Table:
    """Returns a part of the report."""
    table = Table("figure", "value", title=title)
    for name, figure in figures.items():
        table.add_row(name, f"{figure:,.4g}")
    return table


def main() -> None:
    log_errors_only()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--chunks",
        type=int,
        nargs="*",
        default=CHUNKS,
        help="sizes of libraries; 100000 takes minutes",
    )
    parser.add_argument("--only", nargs="*", choices=list(parts(())), default=None)
    options = parser.parse_args()
    console = Console()
    console.print(machine(), highlight=False)
    drawings: list[Path] = []
    for name, measure in parts(options.chunks).items():
        if options.only is not None and name not in options.only:
            continue
        figures = measure()
        console.print(shown(name, figures))
        drawings.append(remember(f"bench-{name}", figures))
    console.print(f"drawn over all runs: {', '.join(map(str, drawings))}")


if __name__ == "__main__":
    main()
