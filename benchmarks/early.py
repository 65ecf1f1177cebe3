"""Time that early dispatch saves, and CPU that a streamed call costs: `make early`.

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

from antiphon.bus import SystemClock
from antiphon.engine import AnthropicModel, ReasoningEngine, connect
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    ReasoningRequested,
    Recorded,
    ToolsSettled,
)
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.values import Message, QuerySettings, StoredText
from benchmarks.our_side import OurSide
from benchmarks.processes import serving

Script = dict[str, object]
Call = Callable[[], Awaitable[None]]
CALL: Script = {
    "calls": [{"name": "look_up", "input": {"words": "logs"}}],
    "first_byte_s": 0.3,
    "end_s": 1.0,
}
ANSWER: Script = {"text": "Logs grow."}
DELTAS = 100
WORDS: Script = {"text": "word and " * 5 * DELTAS, "delta_chars": 45}
# The message ends at 1.3 s and the tool takes 1 s: only a tool that starts early is done by then.
SETTLED_BOUND_S = 1.4
# Largest ratio of the engine's CPU to that of the SDK alone.
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
    """Returns the seconds from the question to the end of its first round's tools."""
    model = connect("key", url)
    with tempfile.TemporaryDirectory() as folder:
        ours = OurSide(model, [look_up], Path(folder))
        await ours.ask("q", QUESTION, QuerySettings(early_dispatch=early))
        events = await ours.store.read("q")
        await ours.close()
    await model.aclose()
    for recorded in events:
        if isinstance(recorded.event, ToolsSettled):
            return recorded.at - events[0].at
    raise SystemExit("the query settled no tools")


async def dispatch(url: str, times: int) -> dict[str, list[float]]:
    """Returns the seconds with and without early dispatch, measured in turns."""
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
        self._engine = ReasoningEngine(
            self.published.append,
            lambda _: None,
            self._spawn,
            SystemClock(),
            models={"primary": model, "fallback": model},
            tools=StoredText("[]"),
        )

    def _spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        del background
        self._tasks.append(asyncio.create_task(work))
        return self._tasks[-1].cancel

    async def call(self) -> None:
        """Makes one call and waits for its end."""
        message = Message(
            role="user", content=(StoredText('{"type":"text","text":"q"}'),)
        )
        requested = ReasoningRequested(
            call_id="c",
            round=1,
            final=True,
            reasoner="primary",
            model="m",
            max_tokens=500,
            timeout_s=30.0,
            max_rounds=2,
            messages=(message,),
        )
        request = Recorded(query_id="q", seq=1, cause=0, at=0.0, event=requested)
        self._engine.perform(Command(request, (request,)))
        await self._tasks.pop()
        if not isinstance(self.published[-1], ReasoningCompleted):
            raise SystemExit(f"the double failed: {self.published[-1]}")
        self.published.clear()


async def raw(client: AsyncAnthropic) -> None:
    """Makes one call by the SDK alone."""
    # Collected, as every caller would: a loop that only reads would be no fair measure.
    text = []
    message: Any = {"role": "user", "content": "q"}
    async for event in await client.messages.create(
        model="m", max_tokens=500, messages=[message], stream=True
    ):
        if event.type == "content_block_delta" and event.delta.type == "text_delta":
            text.append(event.delta.text)
    if len(text) < DELTAS:
        raise SystemExit(f"the double sent {len(text)} deltas")


async def cpu(url: str, rounds: int, calls: int) -> dict[str, list[float]]:
    """Returns CPU milliseconds a call of each side, one figure a round; the sides take turns."""
    model = connect("key", url)
    engine = Engine(model)
    plain = AsyncAnthropic(api_key="k", base_url=url, max_retries=0)
    on_aiohttp = AsyncAnthropic(
        api_key="k", base_url=url, max_retries=0, http_client=DefaultAioHttpClient()
    )
    sides: dict[str, Call] = {
        "SDK, stream=True": lambda: raw(plain),
        "SDK, stream=True, on aiohttp": lambda: raw(on_aiohttp),
        "engine": engine.call,
    }
    figures: dict[str, list[float]] = {}
    # One round more than asked for: the first warms up.
    for number in range(rounds + 1):
        for name, call in sides.items():
            spent_ms = await _cpu_ms(call, calls)
            if number > 0:
                figures.setdefault(name, []).append(spent_ms)
    await plain.close()
    await on_aiohttp.close()
    await model.aclose()
    return figures


async def _cpu_ms(call: Call, times: int) -> float:
    before = time.process_time()
    for _ in range(times):
        await call()
    return (time.process_time() - before) * 1000 / times


def script_command(replies: list[Script], folder: Path) -> list[str]:
    """Returns the command that serves this script, over and over from its start."""
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
        # Twice as many pairs as queries: what is left over is never sent.
        queries: list[Script] = [CALL | {"when": {"tools": True}}, ANSWER] * (
            4 * options.times
        )
        with serving(script_command(queries, Path(folder)), "/healthz") as served:
            settled = asyncio.run(dispatch(served.url, options.times))
        with serving(script_command([WORDS], Path(folder)), "/healthz") as served:
            spent = asyncio.run(cpu(served.url, options.rounds, options.calls))
    sys.exit(report(settled, spent))


def report(settled: dict[str, list[float]], spent: dict[str, list[float]]) -> int:
    """Prints both tables; returns 1 if a bound is not kept."""
    table = Table(
        "tools start",
        "median",
        "worst",
        title="Tools of the first round settled after (s)",
    )
    for name, values in settled.items():
        table.add_row(name, f"{statistics.median(values):.3f}", f"{max(values):.3f}")
    costs = Table(
        "side",
        "best",
        "median",
        "engine / side, best",
        title=f"CPU a streamed call of {DELTAS} deltas (ms)",
    )
    engine = min(spent["engine"])
    for name, values in spent.items():
        best = min(values)
        costs.add_row(
            name,
            f"{best:.2f}",
            f"{statistics.median(values):.2f}",
            f"{engine / best:.2f}",
        )
    console = Console()
    console.print(table)
    console.print(costs)
    if max(settled["early"]) > SETTLED_BOUND_S:
        return 1
    if engine > CPU_BOUND * min(spent["SDK, stream=True"]):
        return 1
    return 0


if __name__ == "__main__":
    main()
