"""Time that a store with many traces takes to list, find and read: `make bench-store`."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from antiphon.engine import events_of, request_json
from antiphon.traces import SqliteTraceStore
from antiphon.traces.ownership import Origin
from antiphon.traces.packing import Batch
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    Recorded,
    ResponseAssembled,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json, TraceFilter
from antiphon.vocabulary.values import Indicator, Request
from benchmarks.double import blocks_of_reply
from benchmarks.our_side import OurSide
from benchmarks.plain_loop import TOOLS

Trace = list[Recorded[Event]]


class DirectModel:
    """The double of the Messages API without HTTP."""

    name = "double"

    async def stream(self, request: Request, _timeout_s: float) -> AsyncIterator[Json]:
        blocks, stop = blocks_of_reply(request_json(request))
        message: Json = {
            "id": "m",
            "model": "double",
            "content": blocks,
            "stop_reason": stop,
            "usage": {},
        }
        for event in events_of(message):
            yield event


async def one_trace(folder: Path) -> Trace:
    """Records a query of three calls and three tool calls."""
    ours = OurSide(DirectModel(), list(TOOLS.values()), folder)
    await ours.ask("template", "How does BM25 rank documents?")
    events = list(await ours.store.read("template"))
    await ours.close()
    return events


def fill(store: SqliteTraceStore, template: Trace, count: int) -> None:
    """Adds `count` traces like the template, in large transactions: filling is not what is measured."""
    for start in range(0, count, 2_000):
        batches = []
        for number in range(start, min(start + 2_000, count)):
            events = [_varied(recorded, number) for recorded in template]
            batches.append(
                store._writer.pack(
                    Batch(events[0].query_id, 0, events, Origin("bench", "bench"))
                )
            )
        store._writer.write(batches)


def _varied(recorded: Recorded[Event], number: int) -> Recorded[Event]:
    event = recorded.event
    # Numbers without a common divisor, so that no two fields vary alike.
    if isinstance(event, QueryReceived):
        event = replace(
            event,
            query=f"Question {number} about topic {number % 997}",
            session_id=f"s{number % 5000}",
        )
    elif isinstance(event, ToolSucceeded):
        passages = tuple(
            replace(passage, course=f"Course {number % 40}")
            for passage in event.passages
        )
        event = replace(event, passages=passages)
    elif isinstance(event, ResponseAssembled) and number % 50 == 0:
        event = replace(
            event,
            confidence="low",
            indicators=(Indicator(kind="tool_failed", detail="x", event_seq=1),),
        )
    return replace(
        recorded, query_id=f"q{number:06}", at=recorded.at + number // 3, event=event
    )


async def milliseconds(work: Callable[[], Awaitable[object]], times: int = 9) -> float:
    """Returns the median of several runs."""
    took = []
    # The median of several: the first of them reads from the disk.
    for _ in range(times):
        began = time.perf_counter()
        await work()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)


def filters(first_at: float, count: int) -> dict[str, TraceFilter]:
    """Returns the ways to search for traces, each with its name in the table."""
    middle = first_at + count // 6
    return {
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
        "a time": TraceFilter(since=middle, until=middle + 60),
    }


async def measure_finding(
    store: SqliteTraceStore, first_at: float, count: int
) -> Table:
    """Measures every filter, the next page and one trace."""
    table = Table("what", "ms (median)", title=f"{count:,} traces")
    for name, where in filters(first_at, count).items():
        table.add_row(
            name, f"{await milliseconds(partial(store.list, 50, where=where)):.1f}"
        )
    middle = f"q{count // 2:06}"
    table.add_row(
        "next page",
        f"{await milliseconds(partial(store.list, 50, after_id=middle)):.1f}",
    )
    table.add_row("read one", f"{await milliseconds(partial(store.read, middle)):.1f}")
    return table


async def measure(count: int) -> None:
    """Fills a store and prints every figure."""
    console = Console()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = await one_trace(folder)
        store = SqliteTraceStore.open(folder)
        began = time.perf_counter()
        fill(store, template, count)
        seconds = time.perf_counter() - began
        console.print(
            f"{count:,} traces of {len(template)} events, filled in {seconds:.0f} s"
        )
        console.print(await measure_finding(store, template[0].at, count))
        await store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--traces", type=int, default=100_000)
    asyncio.run(measure(parser.parse_args().traces))


if __name__ == "__main__":
    main()
