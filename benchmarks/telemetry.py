"""CPU of a query with spans and metrics beside one without: `make bench-telemetry`.

Both are asked in this process, in turns, against one double in a process of its own; spans go to a collector in a third
process. CPU time is this process's, all threads, so that encoding and sending count too.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from antiphon.engine import connect
from antiphon.telemetry import Metrics, SpanExport
from antiphon.vocabulary.subscribers import Subscriber
from benchmarks import plain_loop
from benchmarks.our_side import OurSide
from benchmarks.overhead import Asker, cpu_ms
from benchmarks.processes import serving

OFF = "without"
Figures = dict[str, list[float]]


async def _take(request: Request) -> Response:
    await request.body()
    return Response(b"", media_type="application/x-protobuf")


collector = Starlette(
    routes=[
        Route("/v1/traces", _take, methods=["POST"]),
        Route("/healthz", lambda _: Response()),
    ]
)
"""Takes spans and lets go of them."""


async def compare(
    base_url: str, collector_url: str, rounds: int, queries: int, at_once: int
) -> Figures:
    """Returns the CPU milliseconds a query of each side, one figure a round; the sides take turns within a round."""
    model = connect("key", base_url)
    tools = list(plain_loop.TOOLS.values())
    names = list(plain_loop.TOOLS)
    spans = SpanExport(collector_url, {}, names)
    sides: dict[str, tuple[Subscriber, ...]] = {
        OFF: (),
        "metrics": (Metrics(names).subscriber(),),
        "spans": (spans.subscriber(),),
        "both": (Metrics(names).subscriber(), spans.subscriber()),
    }
    figures: Figures = {name: [] for name in sides}
    with tempfile.TemporaryDirectory() as folder:
        asked: dict[str, tuple[OurSide, Asker]] = {}
        for name, observers in sides.items():
            place = Path(folder) / name
            place.mkdir()
            ours = OurSide(model, tools, place, observers=observers)
            asked[name] = (ours, Asker(ours))
        order = list(asked.items())
        for number in range(rounds + 1):
            # Each side comes first as often as last: the machine has its own moods.
            order.append(order.pop(0))
            for name, (_, asker) in order:
                figure = await cpu_ms(asker.ask, queries, at_once)
                # The first round warms up.
                if number > 0:
                    figures[name].append(figure)
        for ours, _ in asked.values():
            await ours.close()
    await model.aclose()
    await asyncio.to_thread(spans.close)
    return figures


def report(figures: Figures) -> float:
    """Prints the table; returns the ratio of both together to none, in the middle of all rounds."""
    table = Table(*("side", "best (ms)", "median (ms)", "ratio, median of turns"))
    ratio = 1.0
    for name, values in figures.items():
        turns = [each / off for each, off in zip(values, figures[OFF], strict=True)]
        ratio = statistics.median(turns)
        table.add_row(
            name,
            f"{min(values):.2f}",
            f"{statistics.median(values):.2f}",
            f"{ratio:.3f}",
        )
    Console().print(table)
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=80)
    parser.add_argument("--queries", type=int, default=16)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--target", type=float, default=1.05)
    options = parser.parse_args()
    quiet = ("--log-level", "error", "--timeout-keep-alive", "600")
    uvicorn = (sys.executable, "-m", "uvicorn")
    double = [*uvicorn, "benchmarks.double:app", *quiet]
    taking = [*uvicorn, "benchmarks.telemetry:collector", *quiet]
    with serving(double, "/healthz") as model, serving(taking, "/healthz") as spans:
        compared = compare(
            model.url, spans.url, options.rounds, options.queries, options.at_once
        )
        ratio = report(asyncio.run(compared))
    if ratio > options.target:
        sys.exit(f"the ratio is {ratio:.3f}, the target is {options.target}")


if __name__ == "__main__":
    main()
