"""Asks, leaves, breaks and kills at random in front of an API that keeps its own bill, and compares that with what is
counted: `python -m tests.faults.money [RUNS] [SEED]`.

Each run is two processes over one folder, one after the other: the first may be killed (SIGKILL), the second goes on
with what is left. Nothing may be billed that is not counted.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
from msgspec.structs import replace

from antiphon.engine import DocumentedApi, Profile, ScriptedReply
from antiphon.engine.documented import DocumentedRequest
from antiphon.engine.offline.double import MESSAGES, Call
from antiphon.engine.offline.script import Break
from antiphon.service import AccessFile, Keys, Limits, Quotas, Settings
from antiphon.vocabulary.access import SCOPES
from antiphon.vocabulary.events import QueryClosed
from tests.apps import APPS, new_app
from tests.billing_api import NEVER_S, BillingApi, billed, without_usage
from tests.tenants import Site, share_of

AT_ONCE = 4
SETTLED_S = 20.0
BILL = "bill"
_SLACK_USD = 1e-9
_COUNTED = (
    "SELECT total(tokens), total(cost_usd) FROM (SELECT tokens, cost_usd FROM used "
    "UNION ALL SELECT tokens, cost_usd FROM under_way)"
)
"""What is set aside for a query counts until it is over: of one that was deleted and killed, for good."""
QUESTIONS = ("What is BM25?", "What are the states of a circuit breaker?")
MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-8")
LIMITS = (Limits(), Limits(cost_usd=0.5), Limits(tokens=60_000))
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"context": "transcript"},
    {"compression": "model", "briefing_tokens": 300},
    {"other_model": "claude-haiku-5-5"},
    {"thinking": "adaptive"},
)
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
    """Bills into a file, and then replies, breaks off, falls silent, or has its caller killed.

    Args:
        dies_at: The call at which this process is killed, once it is billed; 0: at none.
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


class Sum(NamedTuple):
    tokens: int
    usd: float


@dataclass
class Run:
    """One run, as its processes share it."""

    seed: int
    folder: Path
    key: str = ""

    def chance(self, process: int) -> random.Random:
        return random.Random(f"{self.seed} {process}")


class Caller:
    """Does with the service whatever a caller with a key may."""

    def __init__(
        self, client: httpx2.AsyncClient, api: TroubledApi, chance: random.Random
    ) -> None:
        self._client = client
        self._api = api
        self._chance = chance

    async def begin(self) -> str:
        """Asks something; returns what became of it."""
        return await self._do(
            self.ask, self.leave, self.cancel, self.leave_open, self.forget
        )

    async def act(self) -> str:
        """Does any one thing; returns what."""
        return await self._do(
            self.ask, self.leave, self.cancel, self.forget, self.fork, self.fork, self.resume
        )  # fmt: skip

    async def _do(self, *acts: Callable[[], Awaitable[object]]) -> str:
        act = self._chance.choice(acts)
        await act()
        return act.__name__

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
        """Asks, and does not wait: the end of the process breaks the query off."""
        await self._begun(self.ask())

    async def cancel(self) -> None:
        """Asks, and cancels whatever runs."""
        asking = await self._begun(self.ask())
        for query in (await self._client.get("/api/queries")).json()["queries"]:
            await self._client.post(f"/api/queries/{query['query_id']}/cancel")
        await asyncio.wait([asking])

    async def forget(self) -> None:
        """Asks, and deletes what was asked while it is worked on."""
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
        """Goes on with what nobody works on."""
        for trace in await self._traces():
            if trace["status"] == "open":
                await self._client.post(f"/api/traces/{trace['query_id']}/resume")

    async def _traces(self) -> list[dict[str, Any]]:
        traces: list[dict[str, Any]] = (await self._client.get("/api/traces")).json()["traces"]  # fmt: skip
        return traces

    async def _begun(
        self, asking: Coroutine[Any, Any, httpx2.Response]
    ) -> asyncio.Task[httpx2.Response]:
        """Begins it, and returns after the model was asked so many times, or a little later."""
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


async def first_process(run: Run) -> None:
    """Does a few things, and ends or is killed among them."""
    chance = run.chance(1)
    dies_at = chance.choice((0, 0, 1, 2, 3, 4))
    api = TroubledApi(run.folder / BILL, chance, dies_at)
    async with _open(run, api) as at:
        caller = Caller(at.client(run.key), api, chance)
        note(run, await caller.begin())
        for _ in range(chance.randint(0, 2)):
            note(run, await caller.act())
        if chance.random() < 0.3:
            os.kill(os.getpid(), signal.SIGKILL)


async def second_process(run: Run) -> None:
    """Goes on with what the first has left, does some more, and waits until all is counted."""
    chance = run.chance(2)
    api = TroubledApi(run.folder / BILL, chance, dies_at=0)
    async with _open(run, api) as at:
        client = at.client(run.key)
        if chance.random() < 0.8:
            await at.house.service.resume_unfinished()
        caller = Caller(client, api, chance)
        for _ in range(chance.randint(0, 2)):
            note(run, await caller.act())
        # Whatever nobody has gone on with yet.
        await at.house.service.resume_unfinished()
        await _settled(client)
        await _check_ended(at)


def _open(run: Run, api: TroubledApi) -> AbstractAsyncContextManager[Site]:
    chance = run.chance(0)
    settings = chance.choice(SETTINGS)
    model = chance.choice(MODELS)
    profile = Profile(citations=chance.choice(("auto", "native")))
    return billed(run.folder, api, profile, model=model, **settings)


async def _settled(client: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(SETTLED_S):
        while True:
            share = await share_of(client)
            if not share["at_once"]:
                return
            await asyncio.sleep(0.02)


async def _check_ended(at: Site) -> None:
    store = at.house.store
    for line in await store.list(1_000):
        events = await store.read(line.query_id)
        assert isinstance(events[-1].event, QueryClosed), line.query_id


def note(run: Run, act: str) -> None:
    with (run.folder / "acts").open("a") as file:
        file.write(f"{act}\n")


@dataclass
class Result:
    """What one run came to.

    Attributes:
        codes: The exit codes of its processes, or below 0 the signals that ended them.
        acts: What was done.
    """

    seed: int
    codes: list[int]
    acts: list[str]
    calls: int
    billed: Sum
    counted: Sum
    error: str

    @property
    def wrong(self) -> str:
        """The reason why it may not be so; empty where there is none."""
        first, second = self.codes
        if first not in (0, -signal.SIGKILL) or second != 0:
            return (
                f"seed {self.seed}: its processes ended as {self.codes}\n{self.error}"
            )
        if self.billed.usd > self.counted.usd + _SLACK_USD:
            return f"seed {self.seed}: billed {self.billed}, counted {self.counted}"
        if self.billed.tokens > self.counted.tokens:
            return f"seed {self.seed}: billed {self.billed}, counted {self.counted}"
        return ""


@dataclass
class Tally:
    """What the runs came to."""

    runs: int = 0
    killed: int = 0
    calls: int = 0
    billed_usd: float = 0.0
    counted_usd: float = 0.0
    acts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, result: Result) -> None:
        self.runs += 1
        self.killed += result.codes[0] == -signal.SIGKILL
        self.calls += result.calls
        self.billed_usd += result.billed.usd
        self.counted_usd += result.counted.usd
        self.acts.update(result.acts)
        if result.wrong:
            self.wrong.append(result.wrong)

    def __str__(self) -> str:
        acts = ", ".join(f"{name} {times}" for name, times in sorted(self.acts.items()))
        return (
            f"{self.runs} runs, {self.killed} killed; {acts}\n"
            f"{self.calls} calls billed for {self.billed_usd:.2f} USD, {self.counted_usd:.2f} USD counted; "
            f"{len(self.wrong)} runs in which more was billed than counted, or which failed"
        )


def _counted(folder: Path) -> Sum:
    file = AccessFile(folder)
    try:
        [(tokens, usd)] = file.read(_COUNTED, ())
    finally:
        file.close()
    return Sum(int(tokens), usd)


def _lines(path: Path) -> list[str]:
    with suppress(FileNotFoundError):
        return path.read_text().splitlines()
    return []


def play(seed: int, folder: Path) -> Result:
    """Plays one run."""
    run = Run(seed=seed, folder=folder)
    file = AccessFile(folder)
    run.key, info = Keys(file).add("money", "acme", tuple(SCOPES))
    Quotas(file).limit("key", info.key_id, run.chance(0).choice(LIMITS))
    file.close()
    codes = [_in_a_process(act, run) for act in (first_process, second_process)]
    bill = [json.loads(line) for line in _lines(folder / BILL)]
    billed_tokens = sum(each["tokens"] for each in bill)
    return Result(
        seed=seed,
        codes=codes,
        acts=_lines(folder / "acts"),
        calls=len(bill),
        billed=Sum(billed_tokens, sum(each["usd"] for each in bill)),
        counted=_counted(folder),
        error="\n".join(_lines(folder / "error")),
    )


def _in_a_process(act: Callable[[Run], Coroutine[Any, Any, None]], run: Run) -> int:
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    code = 1
    try:
        asyncio.run(act(run))
        code = 0
    except BaseException:  # noqa: BLE001 - the end of a process, which the parent reports
        (run.folder / "error").write_text(traceback.format_exc())
    finally:
        os._exit(code)


def play_one(seed: int) -> Result:
    """Plays a run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return play(seed, Path(folder))


def play_all(runs: int, first_seed: int) -> Tally:
    """Plays so many runs, a few at once."""
    tally = Tally()
    # Built once, before the processes fork.
    settings = Settings(_env_file=None)  # type: ignore[call-arg]  # pydantic-settings
    APPS.give_back(settings, new_app(settings, None))
    with multiprocessing.get_context("fork").Pool(AT_ONCE) as pool:
        seeds = range(first_seed, first_seed + runs)
        for result in pool.imap_unordered(play_one, seeds):
            tally.add(result)
            if tally.runs % 50 == 0:
                sys.stderr.write(f"{tally.runs} runs, {len(tally.wrong)} wrong\n")
    return tally


def main() -> None:
    """Plays, prints, judges."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    tally = play_all(runs, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    sys.stdout.write(f"{tally}\n")
    sys.stdout.writelines(f"✗ {wrong}\n" for wrong in tally.wrong)
    sys.exit(bool(tally.wrong))


if __name__ == "__main__":
    main()
