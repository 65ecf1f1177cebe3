"""Kills a process (SIGKILL) right after each event of a query is stored, and checks what the store then contains."""

from __future__ import annotations

import os
import signal
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from antiphon.faults.plan import Plan
from antiphon.faults.ports.virtual_time import run
from antiphon.faults.runs.service import run_plan
from antiphon.faults.runs.shared_store import OpenStore, open_local
from antiphon.faults.runs.world import World
from antiphon.service import Redaction
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event, QueryClosed, Recorded
from antiphon.vocabulary.ports import EventLog, WholeTraceStore

_MOST_KILLS = 1_000
_ACKNOWLEDGED = "acknowledged"
"""The file in which a process notes the events that its store has acknowledged."""


def kill_everywhere(open_store: OpenStore = open_local) -> tuple[int, list[str]]:
    """Kills one process after each event of a plain query; returns the number of kills and all faults found."""
    broken: list[str] = []
    for number in range(1, _MOST_KILLS):
        with tempfile.TemporaryDirectory() as folder:
            killed = _kill_after(number, Path(folder), open_store)
            for wrong in _wrong_in(Path(folder), open_store, killed=killed):
                broken.append(f"killed after event {number}: {wrong}")
        if not killed:
            return number - 1, broken
    return number, broken


def _kill_after(number: int, folder: Path, open_store: OpenStore) -> bool:
    """Runs a query in a process of its own; returns False if the query ended before the kill."""
    # A fork, because new imports for each of some thirty kills would take a minute.
    child = os.fork()
    # The child never returns from here: it dies by the kill or by `os._exit`.
    if child == 0:
        _live_and_die(number, folder, open_store)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def _live_and_die(number: int, folder: Path, open_store: OpenStore) -> None:
    code = 1
    try:
        world = World(folder, open_store=open_store)
        world.store = _DeadlyStore(world.store, number, folder)  # type: ignore[assignment]  # acts as what it wraps
        run_plan(world, Plan())
        code = 0
    finally:
        # Under no circumstances may the fork go on with the parent's code.
        os._exit(code)


class _DeadlyStore:
    """A trace store that stores events one by one, notes each in its own file, and kills the process after `number`."""

    def __init__(self, inner: EventLog, events: int, folder: Path) -> None:
        self._inner = inner
        self._left = events
        self._acknowledged = folder / _ACKNOWLEDGED

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        for number, recorded in enumerate(events):
            await self._inner.append(query_id, expected_seq + number, [recorded])
            with self._acknowledged.open("a") as file:
                file.write(f"{query_id} {recorded.seq}\n")
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


def _wrong_in(folder: Path, open_store: OpenStore, *, killed: bool) -> list[str]:
    """Compares the contents of the store with the acknowledged events."""
    acknowledged: dict[str, int] = {}
    for line in (folder / _ACKNOWLEDGED).read_text().splitlines():
        query_id, seq = line.split()
        acknowledged[query_id] = int(seq)
    try:
        store = open_store(folder, Redaction(), BUILT_IN)
        return run(_compare(store, acknowledged, killed=killed))
    except sqlite3.Error as error:
        return [f"the store cannot be opened: {error}"]


async def _compare(
    store: WholeTraceStore, acknowledged: dict[str, int], *, killed: bool
) -> list[str]:
    statuses = {listed.query_id: listed.status for listed in await store.list(1_000)}
    wrong: list[str] = []
    for query_id, seq in acknowledged.items():
        trace = await store.read(query_id)
        wrong += wrong_with(trace, seq, statuses.get(query_id))
    if killed and not acknowledged:
        wrong.append("nothing was acknowledged before the kill")
    await store.close()
    return wrong


def wrong_with(
    trace: Sequence[Recorded[Event]], acknowledged_seq: int, status: str | None
) -> Iterator[str]:
    """Yields the faults of a trace whose events up to `acknowledged_seq` were acknowledged as stored."""
    stored = [recorded.seq for recorded in trace]
    if stored != list(range(1, len(trace) + 1)):
        yield "the trace has gaps"
    # There may be more events, because the kill may have come before the acknowledgement of the last one.
    if len(trace) < acknowledged_seq:
        yield f"{acknowledged_seq - len(trace)} acknowledged events are missing"
    yield from _wrong_status(trace, status)


def _wrong_status(
    trace: Sequence[Recorded[Event]], status: str | None
) -> Iterator[str]:
    ended = len(trace) > 0 and isinstance(trace[-1].event, QueryClosed)
    if ended and status == "open":
        yield f"a query that ended is listed as {status}"
    if not ended and status != "open":
        yield f"a query that did not end is listed as {status}"
