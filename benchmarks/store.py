"""What a store with many traces takes to list, find and read, and how fast replay is: `make bench-store`."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from antiphon.bus import Bus, SystemClock
from antiphon.composition.caller import Caller
from antiphon.composition.wiring import Resources, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.engine import events_of, request_json
from antiphon.service import replay
from antiphon.traces import SqliteTraceStore
from antiphon.traces.appending import Batch
from antiphon.vocabulary.events import Event, QueryReceived, Recorded, ResponseAssembled, ToolSucceeded
from antiphon.vocabulary.ports import Json, TraceFilter
from antiphon.vocabulary.values import Indicator, QuerySettings, Request
from benchmarks.double import blocks_of_reply
from benchmarks.tools import TOOLS

Trace = list[Recorded[Event]]


class DirectModel:
    """The double of the Messages API without HTTP."""

    name = "double"

    async def stream(self, request: Request, _timeout_s: float) -> AsyncIterator[Json]:
        blocks, stop = blocks_of_reply(request_json(request))
        message: Json = {"id": "m", "model": "double", "content": blocks, "stop_reason": stop, "usage": {}}
        for event in events_of(message):
            yield event


async def one_trace(folder: Path) -> Trace:
    """A query of three calls and three tool calls, as it is recorded."""
    registry = Registry([tool_from_function(run) for run in TOOLS.values()])
    model = DirectModel()
    parts = Resources(
        clock=SystemClock(),
        models={"primary": model, "fallback": model},
        tools=registry,
        tool_definitions=registry.definitions(),
    )
    store = SqliteTraceStore.open(folder)
    session = Bus(store, parts.clock).open("template", lambda ports: wire(parts, ports, Caller()).subscriptions())
    await session.run(receive("How does BM25 rank documents?", "bench", QuerySettings()))
    events = list(await store.read("template"))
    await store.close()
    return events


def fill(store: SqliteTraceStore, template: Trace, count: int) -> None:
    """Adds `count` traces like the template, in large transactions: filling is not what is measured."""
    for start in range(0, count, 2_000):
        batches = []
        for number in range(start, min(start + 2_000, count)):
            events = [_varied(each, number) for each in template]
            batches.append(store._writer.pack(Batch(events[0].query_id, 0, events, "bench")))
        store._writer.write(batches)


def _varied(said: Recorded[Event], number: int) -> Recorded[Event]:
    event: Event = said.event
    if isinstance(event, QueryReceived):
        event = replace(event, query=f"Question {number} about topic {number % 997}", session_id=f"s{number % 5000}")
    elif isinstance(event, ToolSucceeded):
        passages = tuple(replace(each, course=f"Course {number % 40}") for each in event.passages)
        event = replace(event, passages=passages)
    elif isinstance(event, ResponseAssembled) and number % 50 == 0:
        event = replace(event, confidence="low", indicators=(Indicator(kind="tool_failed", detail="x", event_seq=1),))
    return replace(said, query_id=f"q{number:06}", at=said.at + number // 3, event=event)


async def milliseconds(work: Callable[[], Awaitable[object]], times: int = 9) -> float:
    """The median of several runs."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        await work()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


async def measure(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = await one_trace(folder)
        store = SqliteTraceStore.open(folder)
        began = time.perf_counter()
        fill(store, template, count)
        Console().print(f"{count:,} traces of {len(template)} events, filled in {time.perf_counter() - began:.0f} s")
        filters = {
            "list, no filter": TraceFilter(),
            "status": TraceFilter(status="answered"),
            "status that nothing has": TraceFilter(status="failed"),
            "confidence": TraceFilter(confidence="low"),
            "indicator": TraceFilter(indicator="tool_failed"),
            "course": TraceFilter(course="Course 7"),
            "tool": TraceFilter(tool="get_course_outline"),
            "course and indicator": TraceFilter(course="Course 0", indicator="tool_failed"),
            "conversation": TraceFilter(session_id="s77"),
            "words, rare": TraceFilter(text="997 Question"),
            "words, in one of a thousand": TraceFilter(text="topic 77"),
            "words, in all": TraceFilter(text="BM25 documents"),
            "a time": TraceFilter(since=template[0].at + count // 6, until=template[0].at + count // 6 + 60),
        }
        table = Table("what", "ms (median)", title=f"{count:,} traces")
        for what, where in filters.items():
            table.add_row(what, f"{await milliseconds(lambda where=where: store.list(50, where=where)):.1f}")  # type: ignore[misc]  # bound now
        middle = f"q{count // 2:06}"
        table.add_row("next page", f"{await milliseconds(lambda: store.list(50, after_id=middle)):.1f}")
        table.add_row("read one", f"{await milliseconds(lambda: store.read(middle)):.1f}")
        Console().print(table)
        began_cpu = time.process_time()
        for _ in range(200):
            replay(template)
        Console().print(f"replay: {200 / (time.process_time() - began_cpu):.0f} traces a second on one core")
        await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=100_000)
    asyncio.run(measure(parser.parse_args().traces))


if __name__ == "__main__":
    main()
