"""Memory of queries that wait for their model at the same time: `python -m benchmarks.bench.in_flight N` prints KiB.

It runs as a separate process that has answered some queries already, so that modules are loaded and caches filled.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bench.query import Query, together
from benchmarks.bench.working_model import Work
from benchmarks.processes import log_errors_only, resident_mb

LATENCY_S = 1.0
LOOK_EVERY_S = 0.05
WARM_UP = 20


async def peak_kib(count: int) -> float:
    """Returns the peak memory of all queries together, beyond the process's memory before them."""
    with tempfile.TemporaryDirectory() as folder:
        warming = Query(Path(folder) / "warm", Work())
        for _ in range(WARM_UP):
            await warming.ask()
        await warming.side.close()
        query = Query(Path(folder) / "measured", Work(latency_s=LATENCY_S))
        gc.collect()
        before = highest = resident_mb()
        running = asyncio.ensure_future(together(query, count))
        while not running.done():
            await asyncio.sleep(LOOK_EVERY_S)
            highest = max(highest, resident_mb())
        await running
        await query.side.close()
    return (highest - before) * 1024


def in_flight_kib(count: int) -> float:
    """Measures the same in a separate process, because a process reuses the memory of earlier measurements."""
    measured = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench.in_flight", str(count)],
        capture_output=True,
        check=True,
        text=True,
    )
    return float(measured.stdout.split()[-1])


def main() -> None:
    log_errors_only()
    sys.stdout.write(f"{asyncio.run(peak_kib(int(sys.argv[1]))):.0f}\n")


if __name__ == "__main__":
    main()
