"""Cost of a query in a process that has answered many: CPU and memory over 20,000 queries: `make bench-age`.

Everything is on but the network (benchmarks/whole_service.py), and no two queries are alike: questions, conversations
and passages are new each time, so that whatever keeps them shows. Cost may not rise by more than its noise, or by less
than matters.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from antiphon.service import Antiphon
from benchmarks.fitting import Line, Point, drawn, fitted
from benchmarks.history import remember
from benchmarks.processes import log_errors_only, resident_mb
from benchmarks.whole_service import ask, whole_service
from benchmarks.working_model import name_of

# Queries that fill the caches, which hold 20,000 texts at most, before the first one that counts.
WARM_UP = 4_000
AT_ONCE = 4
MATTERS_CPU = 0.03
"""A rise of CPU over the whole run that is passed over, as a share of its mean."""
MATTERS_MB = 8.0
"""A rise of memory over the whole run that is passed over."""


class Sample(NamedTuple):
    """The cost after so many queries, over those since the sample before."""

    queries: int
    cpu_ms: float
    resident_mb: float
    objects: int


async def sampled(service: Antiphon, queries: int, every: int) -> list[Sample]:
    """Asks so many questions, and returns a sample of each stretch of them."""
    await _ask_many(service, 0, WARM_UP)
    samples = []
    for start in range(0, queries, every):
        before = time.process_time()
        await _ask_many(service, WARM_UP + start, every)
        cpu_ms = (time.process_time() - before) * 1000 / every
        gc.collect()
        done = start + every
        samples.append(Sample(done, cpu_ms, resident_mb(), len(gc.get_objects())))
    return samples


async def _ask_many(service: Antiphon, first: int, count: int) -> None:
    for number in range(first, first + count, AT_ONCE):
        asking = []
        for each in range(number, number + AT_ONCE):
            asking.append(ask(service, f"How does BM25 rank a {name_of(each)}?"))
        await asyncio.gather(*asking)


def rise(samples: Sequence[Sample], costs: Sequence[float]) -> Line:
    """Fits cost over queries."""
    points = []
    for sample, cost in zip(samples, costs, strict=True):
        points.append(Point(sample.queries, cost))
    return fitted(points)


def report(samples: Sequence[Sample], console: Console) -> list[str]:
    """Prints plots and slopes; returns what rises by more than noise and by enough to matter."""
    rising = []
    queries = samples[-1].queries
    cpu = [sample.cpu_ms for sample in samples]
    memory = [sample.resident_mb for sample in samples]
    objects = [float(sample.objects) for sample in samples]
    rows = (
        ("CPU a query, ms", cpu, MATTERS_CPU * sum(cpu) / len(cpu)),
        ("resident memory, MB", memory, MATTERS_MB),
        ("objects that the collector knows", objects, 0.03 * objects[0]),
    )
    for title, costs, matters in rows:
        line = rise(samples, costs)
        points = [
            Point(each.queries, cost) for each, cost in zip(samples, costs, strict=True)
        ]
        console.print(drawn(points, title, "queries"), highlight=False)
        console.print(
            f"mean {line.mean:,.2f}; rise over {queries:,} queries {line.slope * queries:+,.3f} "
            f"± {line.noise * queries:,.3f} (twice the standard error)\n"
        )
        if line.rises and line.slope * queries > matters:
            rising.append(title)
    return rising


def figures(samples: Sequence[Sample]) -> dict[str, float]:
    """Returns what is remembered of a run."""
    found: dict[str, float] = {}
    for sample in samples:
        found[f"cpu_ms after {sample.queries}"] = sample.cpu_ms
        found[f"resident_mb after {sample.queries}"] = sample.resident_mb
    return found


async def measure(queries: int, every: int) -> list[Sample]:
    """Measures in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        async with whole_service(Path(folder)) as service:
            return await sampled(service, queries, every)


def main() -> None:
    log_errors_only()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=20_000)
    parser.add_argument("--every", type=int, default=500)
    options = parser.parse_args()
    samples = asyncio.run(measure(options.queries, options.every))
    rising = report(samples, Console())
    remember("age", figures(samples))
    if rising:
        sys.exit(f"grows with age: {', '.join(rising)}")


if __name__ == "__main__":
    main()
