"""Many queries at once over REST, and the memory that stays behind: `make load`.

Asks the sample questions one by one, then 50 at once, and compares their sources; then 2,000 more, and compares the
service's resident memory before and after. Needs the index that `make setup` makes.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console

from benchmarks.processes import Served, antiphon, serving

QUESTIONS = Path(__file__).parents[1] / "samples" / "questions.jsonl"
ALLOWED_GROWTH_MB = 5.0
WARM_UP = 500

Json = dict[str, Any]


async def ask(client: httpx2.AsyncClient, question: str) -> Json:
    """The answer, or the end of the measurement."""
    reply = await client.post("/api/query", json={"query": question})
    if reply.status_code != 200:
        raise SystemExit(f"{reply.status_code} for {question!r}: {reply.text}")
    answer: Json = reply.json()
    return answer


async def ask_many(client: httpx2.AsyncClient, questions: list[str], at_once: int) -> list[Json]:
    """The answers in the order of the questions."""
    places = asyncio.Semaphore(at_once)

    async def one(question: str) -> Json:
        async with places:
            return await ask(client, question)

    return list(await asyncio.gather(*(one(question) for question in questions)))


async def measure(served: Served, more: int) -> bool:
    """Prints the figures; returns whether they are within bounds."""
    console = Console()
    questions = [json.loads(line)["question"] for line in QUESTIONS.read_text().splitlines()]
    endless = itertools.cycle(questions)
    async with httpx2.AsyncClient(base_url=served.url, timeout=120) as client:
        alone = {question: (await ask(client, question))["sources"] for question in questions}
        fifty = list(itertools.islice(endless, 50))
        started = time.perf_counter()
        answers = await ask_many(client, fifty, 50)
        seconds = time.perf_counter() - started
        mixed = [q for q, answer in zip(fifty, answers, strict=True) if answer["sources"] != alone[q]]
        console.print(
            f"50 at once: {len(answers)} answered in {seconds:.1f} s, {len(mixed)} with other sources than alone"
        )
        await ask_many(client, list(itertools.islice(endless, WARM_UP)), 50)
        await asyncio.sleep(2)
        before = served.resident_mb()
        started = time.perf_counter()
        await ask_many(client, list(itertools.islice(endless, more)), 50)
        seconds = time.perf_counter() - started
        await asyncio.sleep(2)
        growth = served.resident_mb() - before
    console.print(f"{more} more: {more / seconds:.0f} a second; memory {before:.0f} MB, then {growth:+.1f} MB")
    return not mixed and growth <= ALLOWED_GROWTH_MB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--more", type=int, default=2000)
    options = parser.parse_args()
    with serving(antiphon("serve"), "/readyz") as served:
        sys.exit(0 if asyncio.run(measure(served, options.more)) else "out of bounds")


if __name__ == "__main__":
    main()
