"""What early dispatch saves, and what a streamed call costs: `make early`.

The double runs in a process of its own and is reached over HTTP on loopback; everything is real time. Its first tool
block is complete at 0.3 s, the message ends at 1.3 s, the tool takes 1 s.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec
from anthropic import AsyncAnthropic, DefaultAioHttpClient
from rich.console import Console
from rich.table import Table

from antiphon.bus import Bus, SystemClock
from antiphon.composition import Caller, Resources, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.engine import AnthropicModel, ReasoningEngine, connect
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, ReasoningCompleted, ReasoningRequested, Recorded, ToolsSettled
from antiphon.vocabulary.values import Message, QuerySettings, StoredText
from benchmarks.processes import serving

Script = dict[str, object]
CALL: Script = {"calls": [{"name": "look_up", "input": {"words": "logs"}}], "first_byte_s": 0.3, "end_s": 1.0}
ANSWER: Script = {"text": "Logs grow."}
DELTAS = 100
WORDS: Script = {"text": "word and " * 5 * DELTAS, "delta_chars": 45}
SETTLED_BOUND_S = 1.4
CPU_BOUND = 1.3
QUESTION = "How do logs grow?"


async def look_up(words: str) -> str:
    """Looks words up.

    Args:
        words: What to look up.
    """
    await asyncio.sleep(1.0)
    return f"{words} grow"


async def settled_s(url: str, *, early: bool) -> float:
    """Seconds from the question to the end of its first round's tools."""
    clock = SystemClock()
    model = connect("key", url)
    registry = Registry([tool_from_function(look_up)])
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteTraceStore.open(Path(folder))
        parts = Resources(
            clock=clock,
            models={"primary": model, "fallback": model},
            tools=registry,
            tool_definitions=registry.definitions(),
        )
        caller = Caller()
        session = Bus(store, clock).open("q", lambda ports: wire(parts, ports, caller).subscriptions())
        session.start(receive(QUESTION, "s", QuerySettings(early_dispatch=early)))
        await session.ended()
        events = await store.read("q")
        await store.close()
    await model.aclose()
    return next(said.at for said in events if isinstance(said.event, ToolsSettled)) - events[0].at


async def dispatch(url: str, times: int) -> dict[str, list[float]]:
    """The seconds of each way, in turns."""
    figures: dict[str, list[float]] = {"early": [], "not early": []}
    for _ in range(times):
        figures["early"].append(await settled_s(url, early=True))
        figures["not early"].append(await settled_s(url, early=False))
    return figures


class Engine:
    """The engine alone, with a list as its bus."""

    def __init__(self, model: AnthropicModel) -> None:
        self.published: list[Event] = []
        self._tasks: list[asyncio.Task[None]] = []
        models = {"primary": model, "fallback": model}
        self._engine = ReasoningEngine(
            self.published.append, lambda _: None, self._spawn, SystemClock(), models=models, tools=StoredText("[]")  # type: ignore[arg-type]
        )  # fmt: skip

    def _spawn(self, work: Coroutine[Any, Any, None], /, *, background: bool = False) -> Callable[[], object]:
        del background
        self._tasks.append(asyncio.create_task(work))
        return self._tasks[-1].cancel

    async def call(self) -> None:
        """One call to its end."""
        message = Message(role="user", content=(StoredText('{"type":"text","text":"q"}'),))
        asked = ReasoningRequested(
            call_id="c", round=1, final=True, reasoner="primary", model="m", max_tokens=500, timeout_s=30.0,
            max_rounds=2, messages=(message,),
        )  # fmt: skip
        self._engine.on_reasoning_requested(Recorded(query_id="q", seq=1, cause=0, at=0.0, event=asked))
        await self._tasks.pop()
        if not isinstance(self.published[-1], ReasoningCompleted):
            raise SystemExit(f"the double failed: {self.published[-1]}")
        self.published.clear()


async def raw(client: AsyncAnthropic) -> None:
    """One call by the SDK alone."""
    text = []
    message: Any = {"role": "user", "content": "q"}
    async for event in await client.messages.create(model="m", max_tokens=500, messages=[message], stream=True):
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            text.append(event.delta.text)
    if len(text) < DELTAS:
        raise SystemExit(f"the double sent {len(text)} deltas")


async def cpu(url: str, rounds: int, calls: int) -> dict[str, list[float]]:
    """CPU milliseconds a call of each side, one figure a round; the sides take turns."""
    model = connect("key", url)
    engine = Engine(model)
    clients = [AsyncAnthropic(api_key="k", base_url=url, max_retries=0)]
    clients.append(AsyncAnthropic(api_key="k", base_url=url, max_retries=0, http_client=DefaultAioHttpClient()))
    sides: dict[str, Callable[[], Awaitable[None]]] = {
        "SDK, stream=True": lambda: raw(clients[0]),
        "SDK, stream=True, on aiohttp": lambda: raw(clients[1]),
        "engine": engine.call,
    }
    figures: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name, call in sides.items():
            before = time.process_time()
            for _ in range(calls):
                await call()
            if number:  # the first round warms up
                figures[name].append((time.process_time() - before) * 1000 / calls)
    for client in clients:
        await client.close()
    await model.aclose()
    return figures


def played(replies: list[Script], folder: Path) -> list[str]:
    """The command that serves this script, again and again."""
    script = folder / f"{len(replies)}.json"
    script.write_bytes(msgspec.json.encode({"replies": replies}))
    return [sys.executable, "-m", "antiphon.cli", "double", "--script", str(script)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        queries: list[Script] = [CALL | {"when": {"tools": True}}, ANSWER] * (4 * options.times)
        with serving(played(queries, Path(folder)), "/healthz") as served:
            settled = asyncio.run(dispatch(served.url, options.times))
        with serving(played([WORDS], Path(folder)), "/healthz") as served:
            spent = asyncio.run(cpu(served.url, options.rounds, options.calls))
    sys.exit(report(settled, spent))


def report(settled: dict[str, list[float]], spent: dict[str, list[float]]) -> int:
    """Prints both tables; returns 1 where a bound is not kept."""
    table = Table(title="Tools of the first round settled after (s)")
    for column in ("tools start", "median", "worst"):
        table.add_column(column)
    for name, values in settled.items():
        table.add_row(name, f"{statistics.median(values):.3f}", f"{max(values):.3f}")
    costs = Table(title=f"CPU a streamed call of {DELTAS} deltas (ms)")
    for column in ("side", "best", "median", "engine / side, best"):
        costs.add_column(column)
    best = {name: min(values) for name, values in spent.items()}
    for name, values in spent.items():
        row = (f"{best[name]:.2f}", f"{statistics.median(values):.2f}", f"{best['engine'] / best[name]:.2f}")
        costs.add_row(name, *row)
    console = Console()
    console.print(table)
    console.print(costs)
    kept = max(settled["early"]) <= SETTLED_BOUND_S and best["engine"] <= CPU_BOUND * best["SDK, stream=True"]
    return 0 if kept else 1


if __name__ == "__main__":
    main()
