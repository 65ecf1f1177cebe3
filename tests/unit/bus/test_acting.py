"""What is said is stored before anything acts on it: neither work nor a follower comes before the append."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from antiphon.bus import SystemClock
from antiphon.vocabulary.events import (
    QueryReceived,
    Recorded,
    RoundOpened,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.story import query_received
from tests.unit.bus.stage import CLOSED, Stage, closer, starter

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


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
