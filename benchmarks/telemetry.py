"""CPU of a query with spans and metrics beside one without: `make bench-telemetry`.

Both are asked in this process, in turns, against one double in a process of its own; spans go to a collector in a third
process. CPU time is this process's, all threads, so that encoding and sending count too; spans are sent before a
turn ends, so that no side pays for another. Python's garbage collector is set as `antiphon serve` sets it.

What hearing costs apart is measured by one recorded query, over and over.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from antiphon.bus import SystemClock
from antiphon.engine import connect
from antiphon.telemetry import Metrics, SpanExport, observer
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Ports
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from benchmarks import plain_loop
from benchmarks.our_side import OurSide
from benchmarks.overhead import Asker, cpu_ms
from benchmarks.processes import serving

OFF = "without"
Figures = dict[str, list[float]]
HEARD = 2_000
"""Times that one recorded query is heard."""


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
    metrics = Metrics()
    spans = SpanExport(collector_url, {})
    sides: dict[str, tuple[Subscriber, ...]] = {
        OFF: (),
        "metrics": (observer(names, metrics, None),),
        "spans": (observer(names, None, spans),),
        "both": (observer(names, metrics, spans),),
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
        for _, asker in asked.values():
            await cpu_ms(asker.ask, queries, at_once)
        _collect_as_served()
        for _ in range(rounds):
            # Each side comes first as often as last: the machine has its own moods.
            order.append(order.pop(0))
            for name, (_, asker) in order:
                spent_ms = await cpu_ms(asker.ask, queries, at_once)
                before = time.process_time()
                await asyncio.to_thread(spans.flush)
                late_ms = (time.process_time() - before) * 1000 / queries
                figures[name].append(spent_ms + late_ms)
        _report_heard(sides, await asked[OFF][0].store.read("query-1"))
        for ours, _ in asked.values():
            await ours.close()
    await model.aclose()
    await asyncio.to_thread(spans.close)
    return figures


def _report_heard(
    sides: dict[str, tuple[Subscriber, ...]],
    trace: Sequence[Recorded[Event]],
) -> None:
    for name, observers in sides.items():
        for each in observers:
            us = heard_us(each, trace)
            Console().print(f"{name}: {us:.0f} µs to hear one query")


def heard_us(observer: Subscriber, trace: Sequence[Recorded[Event]]) -> float:
    """Returns the CPU microseconds of this thread in which a recorded query is heard; another one sends."""
    ports = Ports(publish=_ignore, emit_live=_ignore, spawn=lambda *_, **__: _nothing)
    surroundings = Surroundings(ports, SystemClock(), BUILT_IN)
    if observer.act is None:
        return 0.0
    before = time.thread_time()
    for _ in range(HEARD):
        handlers = {each.kind: each.handler for each in observer.act(surroundings)}
        for recorded in trace:
            handler = handlers.get(type(recorded.event))
            if handler is not None:
                handler(recorded)
    return (time.thread_time() - before) * 1_000_000 / HEARD


def _ignore(_: object, /) -> None:
    """Takes an event, and lets go of it."""


def _nothing() -> None:
    """Cancels nothing."""


def _collect_as_served() -> None:
    """Sets the garbage collector as the command line and the service do."""
    gc.set_threshold(10_000, 20, 50)
    gc.collect()
    gc.freeze()


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
    parser.add_argument("--target", type=float, default=1.4)
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
