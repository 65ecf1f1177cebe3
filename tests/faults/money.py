"""Asks, leaves, breaks and kills at random in front of an API that keeps its own bill, and compares that with what is
counted: `python -m tests.faults.money [RUNS] [SEED]`.

Each run is two processes over one folder, one after the other: the first may be killed (SIGKILL), the second continues
its work. The service must have counted everything that the API bills.
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
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from antiphon.engine import Profile
from antiphon.service import (
    AccessFile,
    Keys,
    Limits,
    Quotas,
    silence_logging,
)
from antiphon.vocabulary.access import SCOPES
from antiphon.vocabulary.events import QueryClosed
from tests.billing_api import billed
from tests.faults.money_callers import Caller, TroubledApi
from tests.tenants import Site, share_of

AT_ONCE = 4
SETTLED_S = 20.0
BILL = "bill"
ACTS = "acts"
# Bill and account add up the same floats in different orders.
_SLACK_USD = 1e-9
_COUNTED = (
    "SELECT total(tokens), total(cost_usd) FROM (SELECT tokens, cost_usd FROM used "
    "UNION ALL SELECT tokens, cost_usd FROM under_way)"
)
"""A query's reservation counts until the query ends; for a query that was deleted and killed, it counts for good."""
MODELS = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-4-8")
LIMITS = (Limits(), Limits(cost_usd=0.5), Limits(tokens=60_000))
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"context": "transcript"},
    {"compression": "model", "briefing_tokens": 300},
    {"other_model": "claude-haiku-5-5"},
    {"thinking": "adaptive"},
)


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


async def first_process(run: Run) -> None:
    """Does a few things, and ends normally or is killed in the middle."""
    chance = run.chance(1)
    dies_at = chance.choice((0, 0, 1, 2, 3, 4))
    api = TroubledApi(run.folder / BILL, chance, dies_at)
    async with _open(run, api) as at:
        caller = Caller(at.client(run.key), api, chance, run.folder / ACTS)
        await caller.begin()
        for _ in range(chance.randint(0, 2)):
            await caller.act()
        if chance.random() < 0.3:
            os.kill(os.getpid(), signal.SIGKILL)


async def second_process(run: Run) -> None:
    """Continues the work that the first left, does some more, and waits until everything is counted."""
    chance = run.chance(2)
    api = TroubledApi(run.folder / BILL, chance, dies_at=0)
    async with _open(run, api) as at:
        client = at.client(run.key)
        if chance.random() < 0.8:
            await at.house.service.resume_unfinished()
        caller = Caller(client, api, chance, run.folder / ACTS)
        for _ in range(chance.randint(0, 2)):
            await caller.act()
        # Also the queries that no random act has resumed.
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


@dataclass
class Result:
    """The outcome of one run.

    Attributes:
        codes: The exit codes of its processes; a negative one is the signal that ended the process.
        acts: What the callers did.
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
        """Why this outcome breaks a promise; empty if it breaks none."""
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
    """The totals over all runs."""

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


def _begun(seed: int, folder: Path) -> Run:
    run = Run(seed=seed, folder=folder)
    file = AccessFile(folder)
    run.key, info = Keys(file).add("money", "acme", tuple(SCOPES))
    Quotas(file).limit("key", info.key_id, run.chance(3).choice(LIMITS))
    file.close()
    return run


def play(seed: int, folder: Path) -> Result:
    """Plays one run."""
    run = _begun(seed, folder)
    codes = [_in_a_process(act, run) for act in (first_process, second_process)]
    bill = [json.loads(line) for line in _lines(folder / BILL)]
    billed_tokens = sum(each["tokens"] for each in bill)
    return Result(
        seed=seed,
        codes=codes,
        acts=_lines(folder / ACTS),
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
        # The child must run none of the cleanup that belongs to its parent.
        os._exit(code)


def play_one(seed: int) -> Result:
    """Plays a run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return play(seed, Path(folder))


def _load() -> None:
    """Imports and builds everything once, before the runs fork their processes."""
    with tempfile.TemporaryDirectory() as folder:
        run = _begun(0, Path(folder))
        asyncio.run(second_process(run))


def play_all(runs: int, first_seed: int) -> Tally:
    """Plays `runs` runs, a few at a time."""
    tally = Tally()
    silence_logging()
    # Forked, so that the thousand runs do not import everything again.
    with multiprocessing.get_context("fork").Pool(AT_ONCE, _load) as pool:
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
