"""Days of queries in a short time, and the resources that they leave in use: `make -f benchmarks/Makefile soak`.

A service with retention answers QUERIES questions with a scripted model, one in a hundred of whose replies fails; one
caller in a hundred hangs up. At intervals the callers pause, and once everything has come to rest, it reads memory,
handles, tasks, objects and disk. The slope of each after the warm-up, with its noise, shows whether it grows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
from rich.console import Console
from rich.table import Table

from benchmarks.processes import Served, serving
from benchmarks.soak.figures import WARM_UP_QUERIES, Sample, as_svg, slopes

FAULTS = 0.01
HANGS_UP = 0.01
AT_ONCE = 12
SAMPLES = 40
KEEP_MB = 40.0
# In a real day retention runs 24 times, an hour apart; here the runs are seconds apart.
KEEP_EVERY_S = 5.0
SETTLING_S = 1.5
ALLOWED = {
    "memory_mb": 0.05,
    "handles": 0.01,
    "tasks": 0.01,
    "threads": 0.01,
    "objects": 20.0,
    "disk_mb": 0.05,
    "bytes_a_query": 100.0,
}
"""The growth allowed for each 1,000 queries: 5 MB of memory in 100,000."""
SETTINGS = {
    "ANTIPHON_CITATIONS": "native",
    "ANTIPHON_LOG_LEVEL": "error",
    "ANTIPHON_KEEP_MB": str(KEEP_MB),
    "ANTIPHON_KEEP_EVERY_S": str(KEEP_EVERY_S),
    "ANTHROPIC_API_KEY": "none",
}
QUESTIONS = (
    "How does BM25 rank passages?",
    "What are the three states of a circuit breaker?",
    "Which lessons does the course on reliability have?",
    "What does idempotence mean for event handlers?",
)


class Asked:
    """A fixed number of callers at once, until they have asked all questions."""

    def __init__(self, client: httpx2.AsyncClient, seed: int) -> None:
        self._client = client
        self._chance = random.Random(seed)
        self.statuses: Counter[str] = Counter()

    async def ask(self, count: int) -> None:
        """Asks `count` questions, at most `AT_ONCE` at a time, and waits for all."""
        left = iter(range(count))
        await asyncio.gather(*(self._ask_on(left) for _ in range(AT_ONCE)))

    async def _ask_on(self, left: object) -> None:
        for number in left:  # type: ignore[attr-defined]  # the callers share it: each number goes to one of them
            await self._ask(QUESTIONS[number % len(QUESTIONS)])

    async def _ask(self, question: str) -> None:
        timeout = 120.0
        if self._chance.random() < HANGS_UP:
            timeout = 0.02
        try:
            reply = await self._client.post(
                "/api/query", json={"query": question}, timeout=timeout
            )
        except httpx2.TimeoutException:
            self.statuses["hung up"] += 1
            return
        if reply.status_code != 200:
            self.statuses[str(reply.status_code)] += 1
            return
        self.statuses[reply.json()["status"]] += 1


async def sample(served: Served, folder: Path, queries: int) -> Sample:
    """Reads the resources of the process, once it has come to rest."""
    await asyncio.sleep(SETTLING_S)
    told = folder / "counts.json"
    told.unlink(missing_ok=True)
    os.kill(served.pid, signal.SIGUSR1)
    while not told.exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.05)
    process = Path(f"/proc/{served.pid}")
    written = (process / "io").read_text().split("wchar: ")[1].split()[0]
    return {
        "queries": queries,
        "memory_mb": round(served.resident_mb(), 2),
        "handles": len(list((process / "fd").iterdir())),
        "disk_mb": round(_disk_mb(folder / "data"), 2),
        "written_bytes": int(written),
        **json.loads(told.read_text()),
    }


def _disk_mb(folder: Path) -> float:
    total = 0
    for file in folder.rglob("*"):
        if file.is_file():
            total += file.stat().st_size
    return total / 1_000_000


async def soak(served: Served, folder: Path, queries: int) -> list[Sample]:
    """Asks all questions; returns the samples, the first of them from before any question."""
    console = Console()
    samples = [await sample(served, folder, 0)]
    async with httpx2.AsyncClient(base_url=served.url) as client:
        asked = Asked(client, seed=1)
        for _ in range(SAMPLES):
            began = time.perf_counter()
            count = queries // SAMPLES
            await asked.ask(count)
            rate = count / (time.perf_counter() - began)
            done = int(samples[-1]["queries"]) + count
            found = dict(await sample(served, folder, done))
            more = found["written_bytes"] - samples[-1]["written_bytes"]
            found["bytes_a_query"] = round(more / count)
            samples.append(found)
            console.print(f"{rate:.0f} a second, {dict(asked.statuses)}, {found}")
    # No queries precede the first sample.
    samples[0] = {**samples[0], "bytes_a_query": samples[1]["bytes_a_query"]}
    return samples


def report(samples: list[Sample], out: Path) -> bool:
    """Prints the slopes, writes them and their plot to files; returns True if nothing grows."""
    found = slopes(samples, ALLOWED)
    table = Table("measure", "level", "by 1,000 queries", "±", "may be", "")
    for slope in found:
        state = "held"
        if slope.grows:
            state = "GROWS"
        table.add_row(
            slope.measure,
            f"{slope.level:,.2f}",
            f"{slope.a_thousand:+.4f}",
            f"{slope.error:.4f}",
            f"{slope.allowed:g}",
            state,
        )
    Console().print(table)
    out.mkdir(parents=True, exist_ok=True)
    figures = {"samples": samples, "slopes": [slope._asdict() for slope in found]}
    (out / "soak.json").write_text(json.dumps(figures, indent=1))
    (out / "soak.svg").write_text(as_svg(samples, found))
    return not any(slope.grows for slope in found)


def copied_index(index: Path, folder: Path) -> Path:
    """Returns a data folder with the index and no traces."""
    data = folder / "data"
    shutil.copytree(index / "knowledge", data / "knowledge")
    return data


@asynccontextmanager
async def _serving(index: Path, folder: Path) -> AsyncIterator[Served]:
    data = copied_index(index, folder)
    model = [sys.executable, "-m", "benchmarks.soak.scripted_model"]
    with serving([*model, "--faults", str(FAULTS)], "/") as replying:
        os.environ.update(SETTINGS)
        os.environ["ANTHROPIC_BASE_URL"] = replying.url
        server = [sys.executable, "-m", "benchmarks.soak.watched_server"]
        arguments = ["serve", "--data-dir", str(data)]
        told = str(folder / "counts.json")
        with serving([*server, told, *arguments], "/readyz") as served:
            yield served


async def _main(options: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with _serving(options.index, folder) as served:
            samples = await soak(served, folder, options.queries)
    return report(samples, options.out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument(
        "--index", type=Path, default=Path("data"), help="data folder with an index"
    )
    parser.add_argument("--out", type=Path, default=Path("build/soak"))
    options = parser.parse_args()
    if options.queries < 3 * WARM_UP_QUERIES:
        parser.error(
            f"take {3 * WARM_UP_QUERIES:,} queries at least: before that memory still rises"
        )
    if not asyncio.run(_main(options)):
        sys.exit("something grows")


if __name__ == "__main__":
    main()
