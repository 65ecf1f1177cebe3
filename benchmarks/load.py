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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console

from benchmarks.processes import Served, antiphon, serving

QUESTIONS = Path(__file__).parents[1] / "samples" / "questions.jsonl"
ALLOWED_GROWTH_MB = 5.0
AT_ONCE = 50
WARM_UP = 500
# What a query leaves behind is freed within this.
SETTLING_S = 2.0

Json = dict[str, Any]


async def ask(client: httpx2.AsyncClient, question: str) -> Json:
    """Returns the answer, or ends the measurement."""
    reply = await client.post("/api/query", json={"query": question})
    if reply.status_code != 200:
        raise SystemExit(f"{reply.status_code} for {question!r}: {reply.text}")
    answer: Json = reply.json()
    return answer


async def ask_many(client: httpx2.AsyncClient, questions: Sequence[str]) -> list[Json]:
    """Asks at most `AT_ONCE` questions at a time; returns the answers in the order of the questions."""
    places = asyncio.Semaphore(AT_ONCE)

    async def ask_in_turn(question: str) -> Json:
        async with places:
            return await ask(client, question)

    asking = [ask_in_turn(question) for question in questions]
    return list(await asyncio.gather(*asking))


async def compare(client: httpx2.AsyncClient, questions: Sequence[str]) -> bool:
    """Compares the sources of questions asked at once with those that they get alone; returns True if all agree."""
    sources_alone = {}
    for question in questions:
        sources_alone[question] = (await ask(client, question))["sources"]
    asked = list(itertools.islice(itertools.cycle(questions), AT_ONCE))
    started = time.perf_counter()
    answers = await ask_many(client, asked)
    seconds = time.perf_counter() - started
    mixed = 0
    for question, answer in zip(asked, answers, strict=True):
        if answer["sources"] != sources_alone[question]:
            mixed += 1
    Console().print(
        f"{AT_ONCE} at once: {len(answers)} answered in {seconds:.1f} s, {mixed} with other sources than alone"
    )
    return mixed == 0


async def grow(
    client: httpx2.AsyncClient, questions: Sequence[str], served: Served, more: int
) -> bool:
    """Prints the growth of memory over many queries; returns True if it is within bounds."""
    endless = itertools.cycle(questions)
    # Caches fill and the allocator takes its share before the first look.
    await ask_many(client, list(itertools.islice(endless, WARM_UP)))
    await asyncio.sleep(SETTLING_S)
    before = served.resident_mb()
    started = time.perf_counter()
    await ask_many(client, list(itertools.islice(endless, more)))
    seconds = time.perf_counter() - started
    await asyncio.sleep(SETTLING_S)
    growth = served.resident_mb() - before
    Console().print(
        f"{more} more: {more / seconds:.0f} a second; memory {before:.0f} MB, then {growth:+.1f} MB"
    )
    return growth <= ALLOWED_GROWTH_MB


async def measure(served: Served, more: int) -> bool:
    """Prints the figures; returns True if they are within bounds."""
    questions = [
        json.loads(line)["question"] for line in QUESTIONS.read_text().splitlines()
    ]
    async with httpx2.AsyncClient(base_url=served.url, timeout=120) as client:
        alike = await compare(client, questions)
        bounded = await grow(client, questions, served, more)
    return alike and bounded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--more", type=int, default=2000)
    options = parser.parse_args()
    with serving(antiphon("serve"), "/readyz") as served:
        within_bounds = asyncio.run(measure(served, options.more))
    if not within_bounds:
        sys.exit("out of bounds")


if __name__ == "__main__":
    main()
