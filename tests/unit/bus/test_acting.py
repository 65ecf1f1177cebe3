"""What is said is stored before anything acts on it: neither work nor a follower comes before the append."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from antiphon.bus import SystemClock
from antiphon.vocabulary.events import (
    Event,
    QueryReceived,
    Recorded,
    RoundOpened,
    ToolStarted,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.fakes import MemoryTraceStore
from tests.story import query_received, tool_succeeded
from tests.unit.bus.stage import CLOSED, Stage, closer, starter
from tests.virtual_time import run


class LeisurelyStore(MemoryTraceStore):
    """A store whose appends let everything else that can go on do so first."""

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
        await super().append(query_id, expected_seq, events)


ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


async def test_an_event_is_stored_before_the_work_that_it_causes_starts() -> None:
    stored: list[bool] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act(recorded: Recorded[Any]) -> None:
            stored.append(recorded.event in stage.store.events("q1"))
            ports.publish(
                ROUND if isinstance(recorded.event, QueryReceived) else CLOSED
            )

        def on_event(recorded: Recorded[Any]) -> None:
            ports.spawn(act(recorded))

        return [on(QueryReceived, on_event), on(RoundOpened, on_event)]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stored == [True, True]


async def test_it_is_so_too_while_other_work_goes_on() -> None:
    stored: list[bool] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def open_and_go_on() -> None:
            ports.publish(ROUND)
            await asyncio.sleep(60)

        async def look() -> None:
            stored.append(ROUND in stage.store.events("q1"))
            ports.publish(CLOSED)

        return [
            on(QueryReceived, starter(ports, open_and_go_on)),
            on(RoundOpened, starter(ports, look)),
        ]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stored == [True]


async def test_an_event_is_stored_before_followers_are_told() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        return [
            on(QueryReceived, lambda _: ports.publish(ROUND)),
            on(RoundOpened, closer(ports)),
        ]

    stage = Stage(cast, LeisurelyStore())
    seen = stage.session.follow()
    stage.session.start(query_received())
    stored = [
        told.event in stage.store.events("q1")
        async for told in seen
        if isinstance(told, Recorded)
    ]

    assert stored == [True, True, True]


async def test_work_that_is_called_off_before_its_cause_is_stored_never_starts() -> (
    None
):
    began: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act() -> None:
            began.append("act")

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            called_off = ports.spawn(act())
            called_off()
            called_off()
            ports.publish(ROUND)

        return [on(QueryReceived, on_query), on(RoundOpened, closer(ports))]

    await Stage(cast).play(query_received())

    assert began == []


async def test_work_that_the_end_of_the_query_overtakes_never_starts() -> None:
    began: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act() -> None:
            began.append("act")

        return [
            on(QueryReceived, starter(ports, act)),
            on(QueryReceived, closer(ports)),
        ]

    await Stage(cast).play(query_received())

    assert began == []


async def test_the_end_of_a_query_waits_for_work_that_takes_turns_to_clean_up() -> None:
    cleaned: list[str] = []

    async def stop_at_once() -> None:
        await asyncio.Event().wait()

    async def clean_up() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            for _ in range(5):
                await asyncio.sleep(0)
            cleaned.append("cleaned up")

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def close() -> None:
            ports.publish(CLOSED)

        return [
            on(QueryReceived, starter(ports, stop_at_once)),
            on(QueryReceived, starter(ports, clean_up)),
            on(QueryReceived, starter(ports, close)),
        ]

    await Stage(cast).play(query_received())

    assert cleaned == ["cleaned up"]


async def test_what_is_said_without_acting_in_between_is_stored_at_once() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act() -> None:
            ports.publish(ToolStarted(tool_call_id="t1", name="search"))

        return [
            on(QueryReceived, lambda _: ports.publish(ROUND)),
            on(RoundOpened, starter(ports, act)),
            on(ToolStarted, lambda _: ports.publish(tool_succeeded())),
            on(ToolSucceeded, closer(ports)),
        ]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stage.store.appends == [[1, 2], [3, 4, 5]]


def in_two_parts(
    ports: Ports, between_s: float, meanwhile: list[list[list[int]]], stage: list[Stage]
) -> Sequence[Subscription]:
    """Hears a question with work that says something nobody acts on, waits, and then ends the query."""

    async def act() -> None:
        ports.publish(ToolStarted(tool_call_id="t1", name="search"))
        await asyncio.sleep(between_s)
        meanwhile.append(list(stage[0].store.appends))
        ports.publish(tool_succeeded())

    return [
        on(QueryReceived, starter(ports, act)),
        on(ToolSucceeded, closer(ports)),
    ]


def test_what_nothing_acts_on_is_stored_while_the_query_waits_for_something_else() -> (
    None
):
    stage: list[Stage] = []
    meanwhile: list[list[list[int]]] = []

    async def play() -> None:
        stage.append(Stage(lambda ports: in_two_parts(ports, 60, meanwhile, stage)))
        await stage[0].play(query_received())

    run(play())

    assert meanwhile == [[[1], [2]]]


def test_what_nothing_acts_on_is_stored_at_once_where_somebody_follows() -> None:
    stage: list[Stage] = []

    async def play() -> None:
        stage.append(Stage(lambda ports: in_two_parts(ports, 0.005, [], stage)))
        follower = stage[0].session.follow()
        await stage[0].play(query_received())
        del follower

    run(play())

    assert stage[0].store.appends == [[1], [2], [3, 4]]


def test_what_nothing_acts_on_is_stored_when_the_session_is_ended_from_outside() -> (
    None
):
    stage: list[Stage] = []

    async def play() -> None:
        stage.append(Stage(lambda ports: in_two_parts(ports, 60, [], stage)))
        stage[0].session.start(query_received())
        await asyncio.sleep(0.001)
        await stage[0].bus.close()

    run(play())

    assert stage[0].store.appends == [[1], [2]]


async def test_a_turn_that_takes_long_lets_the_rest_of_the_event_loop_run() -> None:
    ran: list[str] = []
    seen: list[list[str]] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        def think(recorded: Recorded[QueryReceived]) -> None:
            asyncio.get_running_loop().call_soon(ran.append, "the rest")
            time.sleep(0.003)
            ports.publish(ROUND)

        def look(recorded: Recorded[RoundOpened]) -> None:
            seen.append(list(ran))
            ports.publish(CLOSED)

        return [on(QueryReceived, think), on(RoundOpened, look)]

    stage = Stage(cast, clock=SystemClock())
    await stage.play(query_received())

    assert seen == [["the rest"]]
    assert stage.store.appends == [[1, 2, 3]]


async def test_what_was_delivered_before_a_session_is_ended_in_a_pause_is_stored() -> (
    None
):
    def cast(ports: Ports) -> Sequence[Subscription]:
        def think(recorded: Recorded[QueryReceived]) -> None:
            asyncio.get_running_loop().call_soon(stage.session.break_off)
            time.sleep(0.003)
            ports.publish(ROUND)

        return [on(QueryReceived, think), on(RoundOpened, closer(ports))]

    stage = Stage(cast, clock=SystemClock())
    stage.session.start(query_received())
    await stage.session.stopped()

    assert stage.store.appends == [[1]]
