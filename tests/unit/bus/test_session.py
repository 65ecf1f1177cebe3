"""The session delivers each event in order, records it before anything acts, and knows what caused what."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
import structlog

from antiphon.vocabulary.errors import TraceError, UnknownEventError
from antiphon.vocabulary.events import (
    Event,
    QueryCancelled,
    QueryClosed,
    QueryReceived,
    Recorded,
    RoundOpened,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.fakes import MemoryTraceStore
from tests.story import query_received
from tests.unit.bus.stage import CLOSED, Stage, closer, ignore, starter

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


class Unlisted(Event, frozen=True, kw_only=True, tag="unlisted"):
    """An event of a subscriber that does not declare it."""

    emitted_by = ("nobody",)


async def test_handlers_hear_in_the_order_of_their_subscriptions() -> None:
    heard: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        return [
            on(QueryReceived, lambda _: heard.append("first")),
            on(QueryReceived, lambda _: heard.append("second")),
            on(QueryReceived, closer(ports)),
            on(QueryReceived, lambda _: heard.append("third")),
        ]

    await Stage(cast).play(query_received())

    assert heard == ["first", "second", "third"]


async def test_a_handler_subscribed_twice_hears_twice() -> None:
    heard: list[int] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        def on_query(recorded: Recorded[QueryReceived]) -> None:
            heard.append(recorded.seq)

        return [
            on(QueryReceived, on_query),
            on(QueryReceived, on_query),
            on(QueryReceived, closer(ports)),
        ]

    await Stage(cast).play(query_received())

    assert heard == [1, 1]


async def test_an_event_that_nobody_hears_is_recorded_all_the_same() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.publish(ROUND)
            ports.publish(CLOSED)

        return [on(QueryReceived, on_query)]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stage.kinds() == ["QueryReceived", "RoundOpened", "QueryClosed"]


async def test_an_event_that_no_catalog_holds_is_refused() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        return [on(QueryReceived, closer(ports))]

    stage = Stage(cast)

    with pytest.raises(
        UnknownEventError, match="Unlisted was published, and no subscriber declares it"
    ):
        stage.session.publish(Unlisted())
    with pytest.raises(UnknownEventError):
        await stage.play(Unlisted())
    assert not stage.bus.sessions


async def test_the_end_of_the_query_is_the_last_event_of_its_trace() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.publish(CLOSED)
            ports.publish(ROUND)

        return [
            on(QueryReceived, on_query),
            on(RoundOpened, ignore),
            on(QueryClosed, lambda _: ports.publish(ROUND)),
        ]

    stage = Stage(cast)
    await stage.play(query_received())
    stage.session.publish(ROUND)

    assert stage.kinds() == ["QueryReceived", "QueryClosed"]


async def test_two_sessions_of_one_query_are_refused() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        return [on(QueryReceived, closer(ports))]

    stage = Stage(cast)
    stage.session.start(query_received())

    with pytest.raises(TraceError, match="open already"):
        stage.bus.open("q1", cast).start(query_received())
    await stage.session.drain()


async def test_work_that_still_runs_at_the_end_is_cancelled_and_awaited() -> None:
    ended: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def wait(name: str) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                ended.append(name)

        async def answer() -> None:
            await asyncio.sleep(0)
            ports.publish(CLOSED)

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.spawn(wait("work"))
            ports.spawn(wait("timer"), background=True)
            ports.spawn(answer())

        return [on(QueryReceived, on_query)]

    stage = Stage(cast)
    events = await stage.play(query_received())

    assert events[-1] == CLOSED
    assert sorted(ended) == ["timer", "work"]
    assert len(asyncio.all_tasks()) == 1


async def test_a_waiter_that_is_cancelled_leaves_the_query_running() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        async def answer() -> None:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            ports.publish(CLOSED)

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.spawn(answer())

        return [on(QueryReceived, on_query)]

    stage = Stage(cast)
    waiter = asyncio.ensure_future(stage.session.run(query_received()))
    await asyncio.sleep(0)
    waiter.cancel()
    await stage.session.drain()

    assert stage.kinds() == ["QueryReceived", "QueryClosed"]


async def test_log_lines_of_a_session_name_its_query_and_round() -> None:
    bound: list[dict[str, Any]] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def work() -> None:
            bound.append(structlog.contextvars.get_contextvars())
            ports.publish(CLOSED)

        def on_round(recorded: Recorded[RoundOpened]) -> None:
            ports.spawn(work())

        return [
            on(QueryReceived, lambda _: ports.publish(ROUND)),
            on(RoundOpened, on_round),
        ]

    await Stage(cast).play(query_received())

    assert bound == [{"query_id": "q1", "round": 1}]
    assert structlog.contextvars.get_contextvars() == {}


async def test_a_cancellation_that_nobody_acts_on_holds_up_the_closing_for_a_moment_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antiphon.bus.bus.CANCELLING_S", 0.01)

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def wait() -> None:
            await asyncio.Event().wait()

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.spawn(wait())

        return [on(QueryReceived, on_query), on(QueryCancelled, ignore)]

    stage = Stage(cast)
    stage.session.start(query_received())
    stage.session.publish(QueryCancelled(why="the service is stopping"))

    await stage.bus.close()

    assert stage.kinds() == ["QueryReceived", "QueryCancelled"]
    assert not stage.bus.sessions


@pytest.mark.parametrize("refusals", [[], [None, TraceError("the disk is full")]])
async def test_who_acts_in_the_middle_of_work_can_wait_until_what_it_published_is_stored(
    refusals: list[TraceError | None],
) -> None:
    store = MemoryTraceStore(refusals)
    found: list[int] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def work() -> None:
            await asyncio.sleep(0)
            ports.publish(ROUND)
            await ports.stored()
            found.append(len(store.events("q1")))
            # Nothing new: there is nothing to wait for.
            await ports.stored()
            ports.publish(CLOSED)

        return [on(QueryReceived, starter(ports, work)), on(RoundOpened, ignore)]

    await Stage(cast, store).play(query_received())

    # A store that refuses holds nobody up: an answer comes all the same.
    assert found == [1 if refusals else 2]
