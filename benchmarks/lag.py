"""Gaps in which the event loop stands still while courses are indexed beside it: `make lag`.

The service runs in this process and answers the sample questions, a few at a time; a ticker measures the longest gap
between two turns of the loop. Meanwhile `antiphon index`, in a process of its own, adds a course, and the service
switches over to the new index.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from rich.console import Console

from antiphon.service import Antiphon, Question, load_settings
from benchmarks.processes import antiphon

ROOT = Path(__file__).parents[1]
TICK_S = 0.001
ASKERS = 4
BOUND_MS = 50.0


@asynccontextmanager
async def measured(gaps_ms: list[float]) -> AsyncIterator[None]:
    """Appends, while open, by how much each turn of the loop came late through this process, in milliseconds.

    A turn that is late while the process was not even running (others had the processors) is not its fault: what
    counts is the lateness, but no more than the CPU time that the process used meanwhile, on all its threads.
    """

    async def tick() -> None:
        before, cpu_before = time.perf_counter(), time.process_time()
        while True:
            await asyncio.sleep(TICK_S)
            now, cpu = time.perf_counter(), time.process_time()
            gaps_ms.append(min(now - before - TICK_S, cpu - cpu_before) * 1000)
            before, cpu_before = now, cpu

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


async def measure(copies: int) -> list[float]:
    """Returns the gaps while a course is indexed and the service switches over."""
    gaps_ms: list[float] = []
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
        generation = service.readiness().generation
        async with measured(gaps_ms):
            await index(data_dir, new_course(Path(courses), copies))
            while service.readiness().generation == generation:  # noqa: ASYNC110 - the facade emits no event for it
                await asyncio.sleep(0.05)
            # Closing the old generation is part of switching over.
            await asyncio.sleep(1)
        for asker in askers:
            asker.cancel()
        await asyncio.gather(*askers, return_exceptions=True)
        await service.close()
    return gaps_ms


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--copies", type=int, default=3, help="how many courses are added"
    )
    options = parser.parse_args()
    gaps_ms = asyncio.run(measure(options.copies))
    p99 = statistics.quantiles(gaps_ms, n=100)[98]
    Console().print(
        f"{len(gaps_ms)} turns while indexing and switching over: median {statistics.median(gaps_ms):.2f} ms, "
        f"99 % {p99:.2f} ms, longest {max(gaps_ms):.1f} ms"
    )
    if max(gaps_ms) > BOUND_MS:
        sys.exit(f"the loop stood still for more than {BOUND_MS:g} ms")


if __name__ == "__main__":
    main()
