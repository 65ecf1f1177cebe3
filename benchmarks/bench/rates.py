"""Events per second through the bus alone, and appends per second to the trace store, on one core."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from antiphon.bus import Bus, SystemClock
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    Recorded,
    RoundOpened,
)
from antiphon.vocabulary.ports import Ports, Subscription, TraceStore, on
from benchmarks.bench.our_side import ForgetfulStore
from benchmarks.bench.query import Query
from benchmarks.bench.working_model import Work

Trace = list[Recorded[Event]]

EVENTS = 20_000
TRACES = 300


class Echo:
    """A component that answers each event with the next, up to a limit."""

    def __init__(self, ports: Ports, events: int) -> None:
        self._publish = ports.publish
        self._left = events

    def subscriptions(self) -> Sequence[Subscription]:
        """Returns its subscriptions."""
        return [on(QueryReceived, self.on_event), on(RoundOpened, self.on_event)]

    def on_event(self, recorded: Recorded[Event]) -> None:
        self._left -= 1
        if self._left:
            self._publish(
                RoundOpened(
                    round=recorded.seq, call_id="call-1", final=False, rounds_left=1
                )
            )
        else:
            self._publish(QueryClosed(status="answered"))


async def events_a_second(first: Event, events: int = EVENTS) -> float:
    """Measures one session that delivers event after event without storing them."""
    # A cast, because the bus only ever appends.
    bus = Bus(cast(TraceStore, ForgetfulStore()), SystemClock())
    session = bus.open("echo", lambda ports: Echo(ports, events).subscriptions())
    before = time.process_time()
    await session.run(first)
    took = time.process_time() - before
    await bus.close()
    return events / took


async def appends_a_second(template: Trace, traces: int = TRACES) -> float:
    """Measures appending traces four events at a time, each append a commit, as queries do."""
    appends = 0
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteTraceStore.open(Path(folder))
        before = time.process_time()
        for number in range(traces):
            query_id = f"query-{number}"
            for start in range(0, len(template), 4):
                await store.append(query_id, start, template[start : start + 4])
                appends += 1
        took = time.process_time() - before
        await store.close()
    return appends / took


async def measure() -> dict[str, float]:
    """Returns both rates, the better of three runs each."""
    with tempfile.TemporaryDirectory() as folder:
        query = Query(Path(folder), Work())
        template = list(await query.side.store.read(await query.ask()))
        await query.side.close()
    first = template[0].event
    return {
        "events a second": max([await events_a_second(first) for _ in range(3)]),
        "appends a second": max([await appends_a_second(template) for _ in range(3)]),
    }
