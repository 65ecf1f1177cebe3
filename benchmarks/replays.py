"""Replays of recorded traces a second on one core, from SQLite stores on disk: `make bench-replay`.

Each trace is read and replayed once by a fresh process, so that nothing is kept of it from another time.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import lzma
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table

from antiphon.cli.replaying import every_id, replay_part
from antiphon.composition.question import Question
from antiphon.service import Antiphon, load_settings
from antiphon.traces import SqliteTraceStore, from_json, trace_lines
from antiphon.traces.event_rows import EventRow
from antiphon.traces.ownership import Origin
from antiphon.traces.packing import Batch
from benchmarks.processes import log_errors_only
from benchmarks.soak import copied_index

ROOT = Path(__file__).parents[1]
TRACES = ROOT / "tests" / "traces"
QUESTIONS = ("questions.jsonl", "held-out.jsonl", "blind-z.jsonl")


class _Line(msgspec.Struct):
    """One line of a trace, with its event as it was written."""

    query_id: str
    seq: int
    cause: int
    at: float
    version: int
    event: msgspec.Raw


def corpus() -> Iterable[Sequence[bytes]]:
    """Yields the lines of each trace of the corpus: answers, recoveries, faults, forks, resumed queries and others."""
    decoder = msgspec.json.Decoder(_Line)
    with lzma.open(TRACES / "corpus" / "traces-before-redesign.jsonl.xz") as file:
        for _, lines in groupby(file, lambda line: decoder.decode(line).query_id):
            yield [line.rstrip(b"\n") for line in lines]


def golden() -> Iterable[Sequence[bytes]]:
    """Yields the lines of each golden trace of today's rules."""
    for path in sorted((TRACES / "golden").glob("*.jsonl")):
        yield trace_lines(path.read_bytes())[1]


def fill(store: SqliteTraceStore, traces: Iterable[Sequence[bytes]]) -> None:
    """Adds traces as the programs that recorded them wrote them, each event in a row of its own."""
    for lines in traces:
        events = [from_json(line) for line in lines]
        query_id = events[0].query_id
        packed = store._writer.pack(
            Batch(query_id, 0, events, Origin("bench", "bench"))
        )
        rows: list[EventRow] = []
        for line, recorded in zip(lines, events, strict=True):
            written = msgspec.json.decode(line, type=_Line)
            kind = recorded.event.kind_name()
            place = (query_id, written.seq, written.cause, written.at)
            rows.append(EventRow(*place, kind, written.version, bytes(written.event)))
        store._writer.write([packed._replace(rows=rows, texts={})])


async def ask(data: Path) -> None:
    """Asks the sample questions of the offline reasoner over the indexed courses."""
    settings = load_settings(data_dir=data, reasoner="offline")
    antiphon = await Antiphon.open(settings)
    for name in QUESTIONS:
        for line in (ROOT / "samples" / name).read_text().splitlines():
            await antiphon.ask(Question(query=json.loads(line)["question"]))
    await antiphon.close()


def measure(data: Path) -> tuple[str, ...]:
    """Replays every trace of a data folder, as the command does with its part of them; returns a row of the table."""
    settings = load_settings(data_dir=data)
    ids = asyncio.run(every_id(settings))
    replay_part(settings, None, ids[:1])  # what is imported by it is no replay
    before, began = time.process_time(), time.perf_counter()
    results = replay_part(settings, None, ids)
    cpu_s, took_s = time.process_time() - before, time.perf_counter() - began
    events = sum(result.events for result in results)
    different = sum(result.divergence is not None for result in results)
    return (
        f"{len(ids):,}",
        f"{events / len(ids):.1f}",
        str(different),
        f"{len(ids) / cpu_s:.0f}",
        f"{events / cpu_s:,.0f}",
        f"{len(ids) / took_s:.0f}",
    )


async def record(index: Path, folder: Path) -> dict[str, Path]:
    """Makes the stores; returns the data folder of each kind of traces."""
    asked = copied_index(index, folder)
    await ask(asked)
    stored = folder / "stored"
    stored.mkdir()
    store = SqliteTraceStore.open(stored)
    fill(store, [*corpus(), *golden()])
    await store.close()
    return {"sample questions": asked, "corpus and golden": stored}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, default=Path("data"))
    options = parser.parse_args()
    log_errors_only()
    table = Table(
        *("traces", "number", "events each", "differ", "traces a second of CPU"),
        *("events a second of CPU", "traces a second"),
    )
    with tempfile.TemporaryDirectory() as name:
        folders = asyncio.run(record(options.index, Path(name)))
        for kind, data in folders.items():
            # A process of its own, which has seen none of these passages.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                table.add_row(kind, *pool.submit(measure, data).result())
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
