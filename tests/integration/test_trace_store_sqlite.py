"""The SQLite store meets real files: texts kept once, other processes, kills, locks, full and damaged files."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from antiphon.traces import (
    SqliteTraceStore,
)
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import DecodeError, NotFoundError, TraceError
from tests.stored_rows import part_rows
from tests.story import answered, placed, query_received, tool_succeeded

ROOT = Path(__file__).parents[2]
PASSAGES = [
    f"Passage {number}. " + "It says something of some length. " * 20
    for number in range(10)
]


def ask(folder: Path, query: str, *parameters: object) -> Sequence[tuple[object, ...]]:
    """What another connection sees."""
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        return connection.execute(query, parameters).fetchall()


@contextmanager
def changed_file(folder: Path) -> Iterator[sqlite3.Connection]:
    """Another connection, by which a test does something to the file."""
    with closing(
        sqlite3.connect(folder / FILE_NAME, isolation_level=None)
    ) as connection:
        yield connection


def start(script: str, folder: Path) -> subprocess.Popen[str]:
    """Another Python process that runs `script` on the store of `folder`."""
    return subprocess.Popen(
        [sys.executable, "-c", script, str(folder)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    )


WRITER = """
import asyncio, itertools, sys
from pathlib import Path
from tests.story import placed, query_received, tool_succeeded
from antiphon.traces import SqliteTraceStore

async def write(store):
    await store.append("q1", 0, placed("q1", [query_received()]))
    for seq in itertools.count(1, 2):
        events = [tool_succeeded(f"passage {seq} " * 40), tool_succeeded(f"passage {seq + 1} " * 40)]
        await store.append("q1", seq, placed("q1", events, after=seq))
        print(seq + 2, flush=True)

asyncio.run(write(SqliteTraceStore.open(Path(sys.argv[1]))))
"""


async def test_traces_that_share_passages_store_them_once(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for query_id in ("q1", "q2"):
        await store.append(
            query_id,
            0,
            placed(query_id, [tool_succeeded(*PASSAGES), tool_succeeded(*PASSAGES)]),
        )

    assert ask(tmp_path, "SELECT count(*) FROM kept") == [(len(PASSAGES),)]
    first, second = [(await store.read(query_id))[1].event for query_id in ("q1", "q2")]
    assert first == second == tool_succeeded(*PASSAGES)
    await store.close()


async def test_a_trace_grows_with_its_events_and_not_with_the_texts_they_repeat(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    growing = [tool_succeeded(*PASSAGES[:count]) for count in range(1, 11)]
    for number, recorded in enumerate(placed("q1", growing)):
        await store.append("q1", number, [recorded])

    bodies = [
        size
        for (size,) in ask(tmp_path, "SELECT length(body) FROM events ORDER BY seq")
    ]
    steps = [int(str(later)) - int(str(earlier)) for earlier, later in pairwise(bodies)]

    assert max(steps) < 250 < len(PASSAGES[0])
    assert ask(tmp_path, "SELECT sum(length(text)) FROM kept") == [
        (sum(len(text) for text in PASSAGES),)
    ]
    await store.close()


async def test_a_closed_store_is_one_file_that_opens_again(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", answered("a", "b"))
    await store.append("q1", 0, events)
    await store.close()

    assert os.listdir(tmp_path) == [FILE_NAME]
    again = SqliteTraceStore.open(tmp_path)
    assert await again.read("q1") == events
    await again.close()


async def test_a_closed_store_refuses_with_an_error_of_ours(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.close()

    with pytest.raises(TraceError):
        await store.append("q1", 0, placed("q1", [query_received()]))
    with pytest.raises(TraceError):
        await store.list()


async def test_another_process_reads_whole_batches_while_one_writes(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    with start(WRITER, tmp_path) as writer:
        assert writer.stdout is not None
        seen = 0
        for acknowledged in (int(writer.stdout.readline()) for _ in range(20)):
            if acknowledged <= seen:
                continue
            events = await store.read("q1", after=seen)
            assert [recorded.seq for recorded in events] == list(
                range(seen + 1, seen + 1 + len(events))
            )
            seen += len(events)
            assert seen >= acknowledged
            # After its first event the writer appends two at a time, so only whole batches make an odd number.
            assert seen % 2 == 1
        writer.kill()
    await store.close()


async def test_a_killed_writer_leaves_every_acknowledged_event_and_no_gap(
    tmp_path: Path,
) -> None:
    with start(WRITER, tmp_path) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(300)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout if line.endswith("\n")]
    store = SqliteTraceStore.open(tmp_path)

    events = await store.read("q1")

    assert [recorded.seq for recorded in events] == list(range(1, len(events) + 1))
    # The writer may have stored more than it lived to acknowledge.
    assert len(events) >= acknowledged[-1] >= 600
    await store.append(
        "q1", len(events), placed("q1", [tool_succeeded("goes on")], after=len(events))
    )
    await store.close()


async def test_a_refused_append_leaves_nothing_behind_and_can_be_done_again(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", [tool_succeeded("y" * 1_000_000)])

    with file_size_limit(200_000), pytest.raises(TraceError, match=r"disk"):
        await store.append("q1", 0, events)
    with pytest.raises(NotFoundError):
        await store.read("q1")

    await store.append("q1", 0, events)
    assert await store.read("q1") == events
    await store.close()


async def test_a_trace_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, placed("q1", answered("a", "b")))
    with changed_file(tmp_path) as other:
        part_rows(other)
        other.execute("UPDATE events SET version = 7 WHERE seq = 2")

    with pytest.raises(DecodeError, match=r"trace q1, seq 2: .*version 7"):
        await store.read("q1")
    await store.close()


async def test_the_error_says_that_a_text_is_missing(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, placed("q1", [tool_succeeded(PASSAGES[0])]))
    with changed_file(tmp_path) as other:
        other.execute("DELETE FROM kept")

    with pytest.raises(DecodeError, match="missing from the store"):
        await store.read("q1")
    await store.close()


async def test_a_damaged_store_is_a_trace_error(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for number in range(50):
        await store.append(
            f"q{number}", 0, placed(f"q{number}", [tool_succeeded("z" * 5000)])
        )
    await store.close()
    path = tmp_path / FILE_NAME
    whole = path.read_bytes()
    # The first pages stay whole: the store opens, and meets the damage later.
    path.write_bytes(whole[:8192] + os.urandom(len(whole) - 8192))
    damaged = SqliteTraceStore.open(tmp_path)

    with pytest.raises(TraceError, match="damaged"):
        await damaged.append("new", 0, placed("new", [tool_succeeded("z")]))
    with pytest.raises(TraceError, match="damaged"):
        await damaged.read("q1")


@contextmanager
def file_size_limit(size_bytes: int) -> Iterator[None]:
    """No file of this process may grow beyond so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
