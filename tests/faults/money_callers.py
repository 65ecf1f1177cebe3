"""A caller that does random things that its key allows, in front of an API that breaks at random."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx2
from msgspec.structs import replace

from antiphon.engine import DocumentedApi, ScriptedReply
from antiphon.engine.documented import DocumentedRequest
from antiphon.engine.offline.double import MESSAGES, Call
from antiphon.engine.offline.script import Break
from tests.billing_api import NEVER_S, BillingApi, without_usage

QUESTIONS = ("What is BM25?", "What are the states of a circuit breaker?")
BREAKS = tuple(
    Break(at=at, how=how)
    for at in ("first_byte", "text", "tool_json", "message_stop")
    for how in ("reset", "end", "stall", "error", "garbage")
)
REFUSALS = (
    ScriptedReply(status=429, error="rate_limit_error", headers={"retry-after": "0"}),
    ScriptedReply(status=529, error="overloaded_error", headers={"retry-after": "0"}),
)


class TroubledApi(BillingApi):
    """Bills into a file, and then replies, breaks off, falls silent, or kills its caller.

    Args:
        dies_at: The number of the call at which this process is killed, after billing it; 0 means never.
    """

    def __init__(self, bill: Path, chance: random.Random, dies_at: int) -> None:
        super().__init__(DocumentedApi(thinks=self._thinks))
        self._bill = bill
        self._chance = chance
        self._dies_at = dies_at
        self._trouble = chance.choice((0.0, 0.2, 0.5))

    def reply(self, call: Call) -> ScriptedReply:
        if call.path == MESSAGES and self._chance.random() < self._trouble / 4:
            return self._chance.choice(REFUSALS)
        before = len(self.api.billed)
        reply = super().reply(call)
        for each in list(self.api.billed)[before:]:
            line = {"tokens": each.usage.all_tokens, "usd": each.usage.cost_usd}
            with self._bill.open("a") as file:
                file.write(json.dumps(line) + "\n")
        if self._dies_at and self.calls == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._troubled(reply)

    def _troubled(self, reply: ScriptedReply) -> ScriptedReply:
        if self._chance.random() >= self._trouble:
            return replace(reply, first_byte_s=self._chance.choice((0.0, 0.0, 0.05)))
        kind = self._chance.choice(("breaks", "breaks", "silent", "never"))
        if kind == "silent":
            return without_usage(reply)
        if kind == "never":
            return replace(reply, first_byte_s=NEVER_S)
        return replace(reply, breaks=self._chance.choice(BREAKS))

    def _thinks(self, asked: DocumentedRequest) -> int:
        if self._chance.random() < self._trouble / 4:
            return asked.max_tokens
        return 100


class Caller:
    """Uses the service in every way that a caller with a key may.

    Args:
        acts: The file in which it notes what it does.
    """

    def __init__(
        self,
        client: httpx2.AsyncClient,
        api: TroubledApi,
        chance: random.Random,
        acts: Path,
    ) -> None:
        self._client = client
        self._acts = acts
        self._api = api
        self._chance = chance

    async def begin(self) -> None:
        """Asks something, and may leave."""
        await self._do(self.ask, self.leave, self.cancel, self.leave_open, self.forget)

    async def act(self) -> None:
        """Does one random thing."""
        await self._do(
            self.ask, self.leave, self.cancel, self.forget, self.fork, self.fork, self.resume
        )  # fmt: skip

    async def _do(self, *acts: Callable[[], Awaitable[object]]) -> None:
        act = self._chance.choice(acts)
        # Noted before doing it, because the kill may come in the middle.
        with self._acts.open("a") as file:
            file.write(f"{act.__name__}\n")
        await act()

    async def ask(self) -> httpx2.Response:
        """Asks, and waits for the answer, or for the deadline."""
        question: dict[str, object] = {
            "query": self._chance.choice(QUESTIONS),
            "deadline_s": self._chance.choice((1.0, 1.0, 2.0)),
        }
        if self._chance.random() < 0.3:
            question["max_cost_usd"] = self._chance.choice((0.02, 0.2))
        return await self._client.post("/api/query", json=question)

    async def leave(self) -> None:
        """Asks, and disconnects."""
        await _end(await self._begun(self.ask()))

    async def leave_open(self) -> None:
        """Asks, and does not wait: the process ends and interrupts the query."""
        await self._begun(self.ask())

    async def cancel(self) -> None:
        """Asks, and cancels the running queries."""
        asking = await self._begun(self.ask())
        for query in (await self._client.get("/api/queries")).json()["queries"]:
            await self._client.post(f"/api/queries/{query['query_id']}/cancel")
        await asyncio.wait([asking])

    async def forget(self) -> None:
        """Asks, and deletes the query while the service works on it."""
        asking = await self._begun(self.ask())
        for trace in await self._traces():
            if trace["status"] == "open":
                await self._client.delete(f"/api/conversations/{trace['session_id']}")
        await _end(asking)

    async def fork(self) -> None:
        """Forks a query at any of its events, and leaves sooner or later."""
        traces = await self._traces()
        if not traces:
            return
        trace = self._chance.choice(traces)
        mode = self._chance.choice(("live", "live", "remodel", "recorded"))
        at = self._chance.randint(1, max(1, trace["events"] - 1))
        forking = self._client.post(
            f"/api/traces/{trace['query_id']}/fork", json={"at": at, "mode": mode}
        )
        task = await self._begun(forking)
        if self._chance.random() < 0.5:
            await asyncio.wait([task])
        await _end(task)

    async def resume(self) -> None:
        """Resumes the queries that nobody works on."""
        for trace in await self._traces():
            if trace["status"] == "open":
                await self._client.post(f"/api/traces/{trace['query_id']}/resume")

    async def _traces(self) -> list[dict[str, Any]]:
        traces: list[dict[str, Any]] = (await self._client.get("/api/traces")).json()["traces"]  # fmt: skip
        return traces

    async def _begun(
        self, asking: Coroutine[Any, Any, httpx2.Response]
    ) -> asyncio.Task[httpx2.Response]:
        """Begins it, and returns once the model has had so many calls, or a little later."""
        task = asyncio.create_task(asking)
        for _ in range(self._chance.randint(0, 3)):
            self._api.asked.clear()
            asked = asyncio.create_task(self._api.asked.wait())
            await asyncio.wait(
                [task, asked], timeout=1.0, return_when=asyncio.FIRST_COMPLETED
            )
            asked.cancel()
        await asyncio.sleep(self._chance.choice((0.0, 0.02)))
        return task


async def _end(task: asyncio.Task[httpx2.Response]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
