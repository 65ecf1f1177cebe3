"""What an append costs on NATS JetStream and in SQLite: `python -m benchmarks.shared_store nats://127.0.0.1:4222`.

The trace is that of a real query of three calls and three tool calls, with an append an event; a query makes fewer.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from rich.console import Console
from rich.table import Table

from antiphon.cluster import JetStreamTraceStore, connect
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.ports import EventLog
from benchmarks.store import Trace, one_trace

TRACES = 200
AT_ONCE = (1, 20)


class Cost(NamedTuple):
    """What appends took."""

    a_second: float
    cpu_us: float


async def measured(store: EventLog, template: Trace, at_once: int) -> Cost:
    """Writes traces, so many at once."""
    traces = [_named(template, f"{at_once}-{number}") for number in range(TRACES)]
    began, cpu = time.perf_counter(), time.process_time()
    for start in range(0, TRACES, at_once):
        some = traces[start : start + at_once]
        await asyncio.gather(*(_write(store, trace) for trace in some))
    appends = TRACES * len(template)
    return Cost(
        appends / (time.perf_counter() - began),
        (time.process_time() - cpu) / appends * 1e6,
    )


def _named(template: Trace, query_id: str) -> Trace:
    return [replace(recorded, query_id=query_id) for recorded in template]


async def _write(store: EventLog, trace: Trace) -> None:
    for recorded in trace:
        await store.append(recorded.query_id, recorded.seq - 1, [recorded])


async def main(url: str, replicas: int) -> None:
    """Measures both stores and prints a table."""
    table = Table("store", "traces at once", "appends/s", "CPU µs an append")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        template = await one_trace(folder / "template")
        prefix = f"bench-{uuid.uuid4().hex[:8]}"
        cluster = await connect(url, name="benchmark", prefix=prefix, replicas=replicas)
        sqlite = SqliteTraceStore.open(folder / "sqlite")
        shared = await JetStreamTraceStore.open(cluster, folder / "shared")
        stores: Sequence[tuple[str, EventLog]] = (("SQLite", sqlite), ("NATS", shared))
        for at_once in AT_ONCE:
            for called, store in stores:
                cost = await measured(store, template, at_once)
                table.add_row(
                    called, f"{at_once}", f"{cost.a_second:,.0f}", f"{cost.cpu_us:.0f}"
                )
        await sqlite.close()
        await shared.close()
        naming = cluster.naming
        for stream in (naming.traces_stream, naming.blobs, naming.queries_stream):
            await cluster.jetstream.delete_stream(stream)
        await cluster.close()
    Console().print(table)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("url")
    arguments.add_argument("--replicas", type=int, default=1)
    given = arguments.parse_args()
    asyncio.run(main(given.url, given.replicas))
