"""Callers of several API nodes, who leave a silent node for another with the same idempotency key."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import httpx2

QUESTIONS = (
    "How does BM25 rank passages?",
    "What are the three states of a circuit breaker?",
    "Which lessons does the course on reliability have?",
    "What does idempotence mean for event handlers?",
)
GIVE_UP_S = 300.0
PAUSE_S = 0.25

Json = dict[str, Any]


class Answered(NamedTuple):
    """An answered question. `tries` counts the requests that it took."""

    query_id: str
    status: str
    took_s: float
    tries: int


class Callers:
    """Asks several nodes questions, a given number at once.

    Args:
        ended: Called after each answer, with the number of answers so far.
        keyed: Send an idempotency key; without one, a question sent again becomes a second query.
    """

    def __init__(
        self,
        urls: Sequence[str],
        run: str,
        ended: Callable[[int], None] = lambda _: None,
        *,
        keyed: bool = True,
    ) -> None:
        limits = httpx2.Limits(max_connections=2_000, max_keepalive_connections=500)
        self._urls = list(urls)
        self._client = httpx2.AsyncClient(timeout=GIVE_UP_S, limits=limits)
        self._run = run
        self._ended = ended
        self._keyed = keyed
        self.answered: list[Answered] = []
        self.unanswered: list[int] = []
        self.statuses: Counter[str] = Counter()

    async def close(self) -> None:
        await self._client.aclose()

    async def ask(self, count: int, at_once: int) -> None:
        """Asks `count` questions and waits for all answers."""
        left = iter(range(count))

        async def ask_on() -> None:
            for number in left:
                await self._ask(number)

        await asyncio.gather(*(ask_on() for _ in range(at_once)))

    async def ask_for(self, seconds: float, at_once: int) -> int:
        """Asks for this many seconds, and returns the number of answers within them."""
        until = time.monotonic() + seconds
        number = iter(range(10**9))

        async def ask_on() -> None:
            while time.monotonic() < until:
                await self._ask(next(number))

        asking = [asyncio.create_task(ask_on()) for _ in range(at_once)]
        before = len(self.answered)
        await asyncio.sleep(seconds)
        within = len(self.answered) - before
        await asyncio.gather(*asking)
        return within

    async def _ask(self, number: int) -> None:
        began = time.monotonic()
        tries = 0
        while time.monotonic() - began < GIVE_UP_S:
            # The questions begin at different nodes; a caller without an answer tries the next node.
            url = self._urls[(number + tries) % len(self._urls)]
            tries += 1
            reply = await self._post(url, number)
            if reply is not None:
                took_s = time.monotonic() - began
                answer = Answered(reply["query_id"], reply["status"], took_s, tries)
                self.answered.append(answer)
                self._ended(len(self.answered))
                return
            await asyncio.sleep(PAUSE_S)
        self.unanswered.append(number)

    async def _post(self, url: str, number: int) -> Json | None:
        question = f"{QUESTIONS[number % len(QUESTIONS)]} ({number})"
        headers: dict[str, str] = {}
        if self._keyed:
            headers["Idempotency-Key"] = f"{self._run}-{number}"
        try:
            reply = await self._client.post(
                f"{url}/api/query",
                json={"query": question},
                headers=headers,
            )
        except httpx2.HTTPError as error:
            self.statuses[type(error).__name__] += 1
            return None
        self.statuses[str(reply.status_code)] += 1
        if reply.status_code != 200:
            return None
        body: Json = reply.json()
        return body


async def read_trace(
    client: httpx2.AsyncClient, urls: Sequence[str], query_id: str
) -> list[Json]:
    """Reads a trace from the first node that has it; each event has its place among its own fields."""
    for url in urls:
        reply = await client.get(f"{url}/api/traces/{query_id}")
        if reply.status_code == 200:
            return [flat(line) for line in reply.json()["events"]]
    raise LookupError(f"no node has the trace of {query_id}")


def flat(line: Json) -> Json:
    """Returns a recorded event with its place among its own fields."""
    return {**line["event"], "seq": line["seq"], "cause": line["cause"]}
