"""Sessions on the real store: many at once, and one whose store is locked for a while."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from antiphon.bus import Bus, SystemClock
from antiphon.traces import SqliteTraceStore
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.events import (
    QueryCancelled,
    QueryClosed,
    QueryReceived,
    Recorded,
    RecordingFailed,
    ResponseAssembled,
    RoundOpened,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.fakes import HastyClock
from tests.story import query_received, response_assembled, tool_succeeded

QUERIES = 50
MANY_ROUNDS = 500
ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)
CLOSED = QueryClosed(status="answered")


def components(ports: Ports) -> Sequence[Subscription]:
    """One round with one piece of work, then the answer."""
    query = ""

    async def work(call_id: str) -> None:
        await asyncio.sleep(0)
        ports.publish(tool_succeeded(f"evidence for {query}", tool_call_id=call_id))

    def on_query(recorded: Recorded[QueryReceived]) -> None:
        nonlocal query
        query = recorded.event.query
        ports.publish(
            RoundOpened(round=1, call_id=f"call of {query}", final=False, rounds_left=0)
        )

    def on_round(recorded: Recorded[RoundOpened]) -> None:
        ports.spawn(work(recorded.event.call_id))

    def on_tool(recorded: Recorded[ToolSucceeded]) -> None:
        ports.publish(response_assembled(recorded.event.passages[0].text.text))
        ports.publish(QueryClosed(status="answered"))

    return [
        on(QueryReceived, on_query),
        on(RoundOpened, on_round),
        on(ToolSucceeded, on_tool),
        on(ResponseAssembled, lambda _: None),
        on(RecordingFailed, lambda _: None),
    ]


async def test_many_queries_at_once_are_each_recorded_whole_and_apart(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    bus = Bus(store, SystemClock())

    await asyncio.gather(
        *(
            bus.open(f"q{n}", components).run(query_received(f"question {n}", f"s{n}"))
            for n in range(QUERIES)
        )
    )

    for number in range(QUERIES):
        trace = await store.read(f"q{number}")
        assert [recorded.seq for recorded in trace] == [1, 2, 3, 4, 5]
        assert [recorded.cause for recorded in trace] == [0, 1, 2, 3, 3]
        (exchange,) = await store.exchanges(f"s{number}", limit=2)
        assert (exchange.question, exchange.answer) == (
            f"question {number}",
            f"evidence for question {number}",
        )
    assert {line.status for line in await store.list(limit=100)} == {"answered"}
    await store.close()


async def test_a_query_among_others_is_stored_whole_though_it_is_cancelled_after_the_commit(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    bus = Bus(store, SystemClock())
    sessions = [bus.open(f"q{n}", components) for n in range(2)]

    for session in sessions:
        session.start(query_received())
    # Both wait for the commit that they share; it is made before either learns of it.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await bus.close()

    for session in sessions:
        stored = await store.read(session.query_id)
        assert [recorded.seq for recorded in stored] == [1, 2]
        assert session.recorded
    await store.close()


async def test_components_that_answer_one_another_for_ever_leave_others_their_turn(
    tmp_path: Path,
) -> None:
    rounds = 0

    def endless(ports: Ports) -> Sequence[Subscription]:
        def again(_: Recorded[RoundOpened]) -> None:
            nonlocal rounds
            rounds += 1
            # If nobody else got a turn, nobody else could end it.
            ports.publish(ROUND if rounds < MANY_ROUNDS else CLOSED)

        return [
            on(QueryReceived, lambda _: ports.publish(ROUND)),
            on(RoundOpened, again),
            on(QueryCancelled, lambda _: ports.publish(CLOSED)),
        ]

    store = SqliteTraceStore.open(tmp_path)
    # Its time does not move: no turn takes long, and the store takes all of them at once.
    session = Bus(store, HastyClock()).open("q1", endless)
    session.start(query_received())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    session.publish(QueryCancelled(why="enough"))
    await session.drain()
    await store.close()

    assert 0 < rounds < MANY_ROUNDS


async def test_queries_at_once_on_a_locked_store_lose_nothing(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    bus = Bus(store, SystemClock())
    loop = asyncio.get_running_loop()

    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        loop.call_later(0.8, other.execute, "ROLLBACK")
        sessions = [bus.open(f"q{n}", components) for n in range(5)]
        await asyncio.gather(*(session.run(query_received()) for session in sessions))

    for session in sessions:
        trace = await store.read(session.query_id)
        assert [recorded.seq for recorded in trace] == list(range(1, len(trace) + 1))
        assert trace[-1].event == QueryClosed(status="answered")
    await store.close()


async def test_a_store_that_is_locked_during_a_query_loses_nothing_of_it(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    bus = Bus(store, SystemClock())

    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        session = bus.open("q1", components)
        session.start(query_received())
        follower = session.follow()
        async for told in follower:
            if isinstance(told, Recorded) and isinstance(told.event, QueryClosed):
                other.execute("ROLLBACK")
        await session.drain()

    trace = await store.read("q1")
    assert [recorded.seq for recorded in trace] == list(range(1, len(trace) + 1))
    assert sum(isinstance(recorded.event, RecordingFailed) for recorded in trace) == 1
    assert trace[-1].event == QueryClosed(status="answered")
    await store.close()


async def test_a_store_that_is_locked_for_seconds_at_the_end_of_a_query_loses_nothing_of_it(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    bus = Bus(store, SystemClock())
    loop = asyncio.get_running_loop()

    with closing(sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)) as other:

        def lock(_: object) -> None:
            other.execute("BEGIN IMMEDIATE")
            loop.call_later(2.5, other.execute, "ROLLBACK")

        await bus.open(
            "q1", lambda ports: [*components(ports), on(ToolSucceeded, lock)]
        ).run(query_received())

    trace = await store.read("q1")
    assert [recorded.seq for recorded in trace] == [1, 2, 3, 4, 5]
    assert trace[-1].event == QueryClosed(status="answered")
    await store.close()


async def test_two_processes_on_one_query_do_not_mix_their_events(
    tmp_path: Path,
) -> None:
    first, second = SqliteTraceStore.open(tmp_path), SqliteTraceStore.open(tmp_path)

    await Bus(first, HastyClock()).open("q1", components).run(query_received("mine"))
    await Bus(second, HastyClock()).open("q1", components).run(query_received("theirs"))

    trace = await first.read("q1")
    assert len(trace) == 5
    assert isinstance(trace[0].event, QueryReceived)
    assert trace[0].event.query == "mine"
    await first.close()
    await second.close()
