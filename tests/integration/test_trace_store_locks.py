"""The SQLite store beside other processes: their locks are waited for, and the log of changes stays short."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from antiphon.traces import (
    SqliteTraceStore,
    appending,
    connections,
)
from antiphon.traces.connections import CHECKPOINT_BYTES
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.events import QueryClosed
from tests.integration.test_trace_store_sqlite import PASSAGES, changed_file, start
from tests.story import answered, placed, query_received, tool_succeeded


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
            # A reader keeps in the log all that was written after its read began.
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM meanwhile").fetchall()
            other.execute("INSERT INTO meanwhile VALUES (1)")
            return super().execute(sql, parameters)


async def test_the_log_starts_over_though_it_is_written_to_whenever_it_is_moved(
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
