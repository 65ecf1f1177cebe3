"""The SQLite store meets real files: texts kept once, other processes, kills, locks, full and damaged files."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from antiphon.traces import (
    SqliteTraceStore,
    appending,
    connections,
    read_trace_file,
    trace_file,
)
from antiphon.traces.connections import CHECKPOINT_BYTES
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import DecodeError, NotFoundError, TraceError
from antiphon.vocabulary.events import Event, QueryClosed
from antiphon.vocabulary.values import StoredText, UntrustedText
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
    await store.append("q1", 0, placed("q1", growing))

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
    assert len(events) >= acknowledged[-1] >= 600
    await store.append(
        "q1", len(events), placed("q1", [tool_succeeded("goes on")], after=len(events))
    )
    await store.close()


async def test_a_store_that_stays_locked_refuses_quickly_and_takes_the_events_later(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", [query_received()])
    loop = asyncio.get_running_loop()

    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = loop.time()
        with pytest.raises(TraceError, match="another process is writing"):
            await store.append("q1", 0, events)
        for _ in range(50):
            with pytest.raises(TraceError):
                await store.append("q1", 0, events)
        took_s = loop.time() - began
        other.execute("ROLLBACK")
    while took_s < 5:
        try:
            await store.append("q1", 0, events)
            break
        except TraceError:
            await asyncio.sleep(0)

    # The first append waits for what may be a short lock, and all others do not.
    assert took_s < 0.5
    assert await store.read("q1") == events
    await store.close()


class LaterTime:
    """The system's monotonic time, some seconds later."""

    def __init__(self) -> None:
        self.later_s = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.later_s


async def test_a_short_lock_is_waited_for_though_a_long_one_was_met_some_time_ago(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    passing = LaterTime()
    monkeypatch.setattr(appending, "time", passing)
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", [query_received()])

    with changed_file(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TraceError, match="another process is writing"):
            await store.append("q1", 0, events)
        other.execute("ROLLBACK")
        # Nobody writes for a minute.
        passing.later_s = 60.0
        other.execute("BEGIN IMMEDIATE")
        asyncio.get_running_loop().call_later(0.1, other.execute, "ROLLBACK")
        await store.append("q1", 0, events)

    assert await store.read("q1") == events
    await store.close()


class WrittenMeanwhile(sqlite3.Connection):
    """A connection that never moves all of the log, as if it were written to whenever it is moved."""

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if "PASSIVE" not in sql:
            return super().execute(sql, parameters)
        file = super().execute("PRAGMA database_list").fetchone()[2]
        folder = Path(file).parent
        with changed_file(folder) as reader, changed_file(folder) as other:
            # What comes after that which somebody reads stays in the log.
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM meanwhile").fetchall()
            other.execute("INSERT INTO meanwhile VALUES (1)")
            return super().execute(sql, parameters)


async def test_the_log_begins_anew_though_it_is_written_to_whenever_it_is_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a slow disk, but not by time: each move ends before the next append, and finds the log written to.
    monkeypatch.setattr(connections, "_MOST_WAIT_S", 60.0)
    monkeypatch.setattr(connections, "CHECKPOINT_BYTES", 200_000)
    monkeypatch.setattr(connections, "_LONG_LOG_BYTES", 800_000)
    store = SqliteTraceStore.open(tmp_path)
    with changed_file(tmp_path) as other:
        other.execute("CREATE TABLE meanwhile (number INTEGER)")
    monkeypatch.setattr(
        sqlite3, "connect", partial(sqlite3.connect, factory=WrittenMeanwhile)
    )
    body = "x" * 20_000

    for number in range(600):
        event = tool_succeeded(f"{number} {body}")
        await store.append("q1", number, placed("q1", [event], after=number))

    assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size < 6_000_000
    assert (tmp_path / FILE_NAME).stat().st_size > 6_000_000
    assert len(await store.read("q1")) == 600
    await store.close()


async def test_an_append_waits_for_a_lock_that_another_process_holds_for_a_moment(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    traces = {
        f"q{number}": placed(f"q{number}", answered("a", "b")) for number in range(20)
    }

    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting = [
            asyncio.create_task(store.append(query_id, 0, events))
            for query_id, events in traces.items()
        ]
        done, _ = await asyncio.wait(waiting, timeout=0.1)
        other.execute("ROLLBACK")
        await asyncio.gather(*waiting)

    assert not done
    for query_id, events in traces.items():
        assert await store.read(query_id) == events
    await store.close()


async def test_an_append_that_was_cancelled_while_it_waited_is_not_stored_later(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)

    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await store.append("q1", 0, placed("q1", [query_received()]))
        other.execute("ROLLBACK")
    await store.append("q2", 0, placed("q2", [query_received()]))

    assert [line.query_id for line in await store.list()] == ["q2"]
    await store.close()


PRUNER = """
import asyncio, sys
from pathlib import Path
from antiphon.traces import SqliteTraceStore

async def prune(store):
    print("begun", flush=True)
    print(await store.prune(older_than=1_600_000_000.0), flush=True)
    await store.close()

asyncio.run(prune(SqliteTraceStore.open(Path(sys.argv[1]))))
"""


async def test_nothing_is_refused_while_another_process_deletes(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    long = [tool_succeeded(f"{number} {'x' * 2_000}") for number in range(4)]
    old = [query_received(), *long, QueryClosed(status="answered")]
    for number in range(60):
        await store.append(f"old{number}", 0, placed(f"old{number}", old, at=1.0))
    refused: list[TraceError] = []
    stored = 0

    with start(PRUNER, tmp_path) as pruner:
        assert pruner.stdout is not None
        assert await asyncio.to_thread(pruner.stdout.readline) == "begun\n"
        while pruner.poll() is None:
            try:
                await store.append(f"new{stored}", 0, placed(f"new{stored}", old))
            except TraceError as error:
                refused.append(error)
            stored += 1
        assert pruner.stdout.readline() == "60\n"

    assert (refused, len(await store.list(10_000))) == ([], stored)
    await store.close()


async def test_the_log_is_moved_into_the_database_while_the_store_is_in_use(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    log = tmp_path / f"{FILE_NAME}-wal"
    body = "x" * 100_000
    for number in range(4 * CHECKPOINT_BYTES // len(body)):
        event = tool_succeeded(f"{number} {body}")
        await store.append("q1", number, placed("q1", [event], after=number))
        for thread in threading.enumerate():
            if thread.daemon and "_run" in thread.name:
                thread.join()

    assert CHECKPOINT_BYTES < log.stat().st_size < 2 * CHECKPOINT_BYTES
    assert (tmp_path / FILE_NAME).stat().st_size > CHECKPOINT_BYTES
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
        other.execute("UPDATE events SET version = 7 WHERE seq = 2")

    with pytest.raises(DecodeError, match=r"trace q1, seq 2: .*version 7"):
        await store.read("q1")
    await store.close()


async def test_a_text_that_is_gone_is_said_to_be_missing(tmp_path: Path) -> None:
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


class NoteTaken(Event, frozen=True, kw_only=True, tag="note_taken"):
    """An event that a subscriber from outside brings along."""

    emitted_by = ("tester",)

    text: UntrustedText


async def test_an_event_of_a_subscriber_is_stored_exported_and_imported_where_the_subscriber_is_known(
    tmp_path: Path,
) -> None:
    catalog = BUILT_IN.extended([NoteTaken])
    trace = placed(
        "q1",
        [
            query_received(),
            NoteTaken(text=StoredText("noted " * 100)),
            QueryClosed(status="answered"),
        ],
    )
    store = SqliteTraceStore.open(tmp_path / "here", catalog=catalog)
    await store.append("q1", 0, trace)

    assert await store.read("q1") == trace
    file = trace_file(await store.read("q1"))
    await store.close()
    other = SqliteTraceStore.open(tmp_path / "there", catalog=catalog)
    await other.add(read_trace_file(file, catalog))
    assert await other.read("q1") == trace
    await other.close()

    without = SqliteTraceStore.open(tmp_path / "here")
    for read in (without.read("q1"), asyncio.to_thread(read_trace_file, file)):
        with pytest.raises(DecodeError, match=r"'note_taken'.*ANTIPHON_SUBSCRIBERS"):
            await read
    assert [form["kind"] for form in await without.forms("q1")] == [
        "query_received",
        "note_taken",
        "query_closed",
    ]
    await without.close()


async def test_the_log_stays_short_however_long_queries_are_written_without_a_pause(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for number in range(1_000):
        query_id = f"q{number}"
        await store.append(query_id, 0, placed(query_id, [query_received()]))
        await store.append(
            query_id,
            1,
            placed(query_id, [tool_succeeded(*PASSAGES, f"{number}" * 500)], after=1),
        )

    assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size < 3 * CHECKPOINT_BYTES
    await store.close()


class OddNoted(Event, frozen=True, kw_only=True, tag="odd_noted"):
    """An event of a subscriber that holds what no store can hold."""

    emitted_by = ("tester",)

    odd: object


async def test_an_event_that_cannot_be_encoded_is_refused_to_whoever_appended_it_alone(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    odd = [query_received(), OddNoted(odd=object())]
    appends = [
        store.append(f"q{number}", 0, placed(f"q{number}", [query_received()]))
        for number in range(40)
    ]

    *stored, refused = await asyncio.gather(
        *appends, store.append("odd", 0, placed("odd", odd)), return_exceptions=True
    )

    assert stored == [None] * 40
    assert isinstance(refused, NotImplementedError)
    assert len(await store.ids("", 100)) == 40
    await store.close()


def test_a_store_outlives_the_event_loop_in_which_its_log_was_being_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antiphon.traces.connections.CHECKPOINT_BYTES", 1)
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", [query_received(), QueryClosed(status="answered")])

    asyncio.run(store.append("q1", 0, events[:1]))
    asyncio.run(store.append("q1", 1, events[1:]))

    assert asyncio.run(store.read("q1")) == events
    asyncio.run(store.close())
