"""Gaps in which the event loop stands still while courses are indexed beside it: `make lag`.

The service runs in this process and answers the sample questions, a few at a time; a ticker measures the longest gap
between two turns of the loop. Meanwhile `antiphon index`, in a process of its own, adds a course, and the service
switches over to the new index.

Printed are three figures a gap: the CPU of the loop's own thread, which is what a handler or the garbage collector
took; with it the waiting for this process's other threads; and all of it, with the waiting for other processes.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from antiphon.service import (
    Antiphon,
    Question,
    keep_loaded,
    load_settings,
    take_short_turns,
)
from benchmarks.processes import antiphon

ROOT = Path(__file__).parents[1]
TICK_S = 0.001
ASKERS = 4
BOUND_MS = 50.0
SCHEDSTAT = Path("/proc/thread-self/schedstat")


class Gap(NamedTuple):
    """By how much one turn of the loop came late, in milliseconds.

    Attributes:
        own: The CPU that the loop's own thread used meanwhile.
        process: The lateness that this process caused: without the time in which the kernel had the thread wait for a
            processor, and no more than the CPU that the process used on all its threads.
        late: The whole lateness.
    """

    own: float
    process: float
    late: float


class Moment(NamedTuple):
    """What the clocks show, in seconds."""

    now: float
    own: float
    process: float
    queued: float


def moment() -> Moment:
    """Reads the clocks; to be called on the loop's thread."""
    return Moment(
        time.perf_counter(), time.thread_time(), time.process_time(), queued_s()
    )


def queued_s() -> float:
    """Returns the seconds for which this thread could have run and had no processor; 0 if the kernel counts none.

    The second field of schedstat: https://www.kernel.org/doc/html/latest/scheduler/sched-stats.html.
    """
    if not SCHEDSTAT.exists():
        return 0.0
    return int(SCHEDSTAT.read_text().split()[1]) / 1e9


def gap_between(before: Moment, after: Moment) -> Gap:
    """Returns the gap between two turns that were to be a tick apart."""
    late = max(0.0, after.now - before.now - TICK_S)
    queued = after.queued - before.queued
    process = min(max(0.0, late - queued), after.process - before.process)
    return Gap(
        own=(after.own - before.own) * 1000, process=process * 1000, late=late * 1000
    )


@asynccontextmanager
async def measured(gaps: list[Gap]) -> AsyncIterator[None]:
    """Appends, while open, by how much each turn of the loop came late."""

    async def tick() -> None:
        before = moment()
        while True:
            await asyncio.sleep(TICK_S)
            after = moment()
            gaps.append(gap_between(before, after))
            before = after

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()


async def index(data_dir: Path, *paths: Path) -> None:
    """Runs `antiphon index` to its end."""
    process = await asyncio.create_subprocess_exec(
        *antiphon("index", *map(str, paths)),
        env={**os.environ, "ANTIPHON_DATA_DIR": str(data_dir)},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    if await process.wait():
        raise SystemExit(f"antiphon index ended with {process.returncode}")


async def ask_for_ever(service: Antiphon) -> None:
    """Asks the sample questions one after another, until it is cancelled."""
    lines = (ROOT / "samples/questions.jsonl").read_text().splitlines()
    questions = [json.loads(line)["question"] for line in lines]
    for question in itertools.cycle(questions):
        await service.ask(Question(query=question))


def new_course(folder: Path, copies: int) -> Path:
    """Writes courses of some size that are not indexed yet."""
    text = (ROOT / "samples/courses/reliability-engineering.txt").read_text()
    for copy in range(copies):
        title = f"Course Title: Reliability, edition {copy}"
        (folder / f"edition-{copy}.txt").write_text(
            "\n".join([title, *text.splitlines()[1:]])
        )
    return folder


async def measure(copies: int) -> list[Gap]:
    """Returns the gaps while a course is indexed and the service switches over."""
    gaps: list[Gap] = []
    with (
        tempfile.TemporaryDirectory() as data,
        tempfile.TemporaryDirectory() as courses,
    ):
        data_dir = Path(data)
        shutil.copytree(load_settings().data_dir / "knowledge", data_dir / "knowledge")
        service = await Antiphon.open(
            load_settings(data_dir=data_dir, log_level="error")
        )
        askers = [asyncio.create_task(ask_for_ever(service)) for _ in range(ASKERS)]
        # The askers' first queries load what is loaded late.
        await asyncio.sleep(1)
        keep_loaded()
        generation = service.readiness().generation
        async with measured(gaps):
            await index(data_dir, new_course(Path(courses), copies))
            while service.readiness().generation == generation:  # noqa: ASYNC110 - the facade emits no event for it
                await asyncio.sleep(0.05)
            # Closing the old generation is part of switching over.
            await asyncio.sleep(1)
        for asker in askers:
            asker.cancel()
        await asyncio.gather(*askers, return_exceptions=True)
        await service.close()
    return gaps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--copies", type=int, default=3, help="how many courses are added"
    )
    options = parser.parse_args()
    # As `antiphon serve` does; the collector is told behind the first queries.
    gc.set_threshold(10_000, 20, 50)
    take_short_turns()
    gaps = asyncio.run(measure(options.copies))
    console = Console()
    console.print(f"{len(gaps)} turns while indexing and switching over")
    console.print(
        f"CPU of the loop's own thread: {in_words([gap.own for gap in gaps])}"
    )
    by_process = [gap.process for gap in gaps]
    console.print(f"with waiting for other threads of it: {in_words(by_process)}")
    console.print(
        f"with waiting for other processes: {in_words([gap.late for gap in gaps])}"
    )
    if max(by_process) > BOUND_MS:
        sys.exit(f"the loop stood still for more than {BOUND_MS:g} ms")


def in_words(values_ms: Sequence[float]) -> str:
    """Returns median, 99 % and the longest."""
    p99 = statistics.quantiles(values_ms, n=100)[98]
    return f"median {statistics.median(values_ms):.2f} ms, 99 % {p99:.2f} ms, longest {max(values_ms):.1f} ms"


if __name__ == "__main__":
    main()
