"""What is said is stored before anything acts on it: neither work nor a follower comes before the append."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from antiphon.bus import Ports, Subscription
from antiphon.vocabulary.events import QueryReceived, Recorded, RoundOpened, ToolStarted, ToolSucceeded
from tests.story import query_received, tool_succeeded
from tests.unit.bus.stage import CLOSED, Stage, closer, starter

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


async def test_an_event_is_stored_before_the_work_that_it_causes_starts() -> None:
    stored: list[bool] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act(recorded: Recorded[Any]) -> None:
            stored.append(recorded.event in stage.store.events("q1"))
            ports.publish(ROUND if isinstance(recorded.event, QueryReceived) else CLOSED)

        def on_event(recorded: Recorded[Any]) -> None:
            ports.spawn(act(recorded))

        return [(QueryReceived, on_event), (RoundOpened, on_event)]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stored == [True, True]


async def test_an_event_is_stored_before_followers_are_told() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        return [(QueryReceived, lambda _: ports.publish(ROUND)), (RoundOpened, closer(ports))]

    stage = Stage(cast)
    seen = stage.session.follow()
    stage.session.start(query_received())
    stored = [told.event in stage.store.events("q1") async for told in seen if isinstance(told, Recorded)]

    assert stored == [True, True, True]


async def test_work_that_is_called_off_before_its_cause_is_stored_never_starts() -> None:
    began: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act() -> None:
            began.append("act")

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            called_off = ports.spawn(act())
            called_off()
            called_off()
            ports.publish(ROUND)

        return [(QueryReceived, on_query), (RoundOpened, closer(ports))]

    await Stage(cast).play(query_received())

    assert began == []


async def test_work_that_the_end_of_the_query_overtakes_never_starts() -> None:
    began: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act() -> None:
            began.append("act")

        return [(QueryReceived, starter(ports, act)), (QueryReceived, closer(ports))]

    await Stage(cast).play(query_received())

    assert began == []


async def test_what_is_said_without_acting_in_between_is_stored_at_once() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        async def act() -> None:
            ports.publish(ToolStarted(tool_call_id="t1", name="search"))

        return [
            (QueryReceived, lambda _: ports.publish(ROUND)),
            (RoundOpened, starter(ports, act)),
            (ToolStarted, lambda _: ports.publish(tool_succeeded())),
            (ToolSucceeded, closer(ports)),
        ]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stage.store.appends == [[1, 2], [3, 4, 5]]
