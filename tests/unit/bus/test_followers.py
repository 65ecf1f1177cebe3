"""Live followers get everything in order, whenever they join, and are never waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from antiphon.bus.followers import FollowerItem, Followers
from antiphon.vocabulary.errors import NotFoundError, SlowReaderError
from antiphon.vocabulary.events import (
    QueryReceived,
    Recorded,
    RoundOpened,
    TextDelta,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.story import placed, query_received, tool_succeeded
from tests.unit.bus.stage import CLOSED, Stage, closer, ignore

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


def delta(text: str) -> TextDelta:
    """A piece of text."""
    return TextDelta(call_id="c1", text=text)


def talk(ports: Ports) -> Sequence[Subscription]:
    """A query whose reasoning streams text between its events."""

    async def stream() -> None:
        ports.emit_live(delta("a"))
        ports.publish(tool_succeeded())
        ports.emit_live(delta("b"))
        await asyncio.sleep(0)
        ports.emit_live(delta("c"))
        ports.publish(CLOSED)

    def on_round(recorded: Recorded[RoundOpened]) -> None:
        ports.spawn(stream())

    return [
        on(QueryReceived, lambda _: ports.publish(ROUND)),
        on(RoundOpened, on_round),
        on(ToolSucceeded, ignore),
    ]


def names(told: list[FollowerItem]) -> list[str]:
    """What was told, briefly."""
    return [
        type(one.event).__name__
        if isinstance(one, Recorded)
        else getattr(one, "text", "")
        for one in told
    ]


async def test_a_follower_gets_events_and_text_in_the_order_in_which_they_were_said() -> (
    None
):
    stage = Stage(talk)
    follower = stage.session.follow()
    await stage.play(query_received())

    told = [one async for one in follower]

    assert names(told) == [
        "QueryReceived",
        "RoundOpened",
        "a",
        "ToolSucceeded",
        "b",
        "c",
        "QueryClosed",
    ]


async def test_a_follower_that_joins_late_gets_what_was_said_before_once() -> None:
    stage = Stage(talk)
    followers = []

    class Joining:
        def on_event(self, recorded: Recorded[RoundOpened]) -> None:
            followers.append(stage.session.follow())

    def cast(ports: Ports) -> Sequence[Subscription]:
        joining = Joining().on_event
        return [*talk(ports), on(RoundOpened, joining), on(ToolSucceeded, joining)]

    stage = Stage(cast)
    await stage.play(query_received())

    for follower in followers:
        told = [one async for one in follower if isinstance(one, Recorded)]
        assert [one.seq for one in told] == [1, 2, 3, 4]


async def test_a_follower_waits_for_what_is_not_yet_said() -> None:
    stage = Stage(talk)
    reader = asyncio.ensure_future(_read_all(stage))
    await asyncio.sleep(0)
    await stage.play(query_received())

    assert len(await reader) == 7


async def _read_all(stage: Stage) -> list[FollowerItem]:
    return [one async for one in stage.session.follow()]


async def test_a_slow_reader_is_cut_off_and_told_so_while_others_go_on() -> None:
    followers = Followers("q1")
    slow, quick = followers.follow(0, buffer=2), followers.follow(0, buffer=3)

    for text in "abc":
        followers.push(delta(text))
    followers.end()

    with pytest.raises(SlowReaderError, match="cut off"):
        await anext(slow)
    assert names([one async for one in quick]) == ["a", "b", "c"]


async def test_what_was_said_before_does_not_count_as_unread() -> None:
    followers = Followers("q1")
    for recorded in placed("q1", [query_received(), ROUND, tool_succeeded()]):
        followers.push(recorded)
    follower = followers.follow(0, buffer=1)
    followers.push(delta("a"))
    followers.end()

    assert names([one async for one in follower]) == [
        "QueryReceived",
        "RoundOpened",
        "ToolSucceeded",
        "a",
    ]


async def test_a_follower_that_leaves_is_told_nothing_more() -> None:
    followers = Followers("q1")
    follower = followers.follow(0, buffer=1)
    follower.close()
    followers.push(delta("a"))

    assert [one async for one in follower] == []
    assert not followers


async def test_an_ended_query_cannot_be_followed() -> None:
    stage = Stage(lambda ports: [on(QueryReceived, closer(ports))])
    await stage.play(query_received())

    with pytest.raises(NotFoundError, match="read its trace"):
        stage.session.follow()


async def test_whoever_gives_up_waiting_for_the_end_takes_it_from_nobody_else() -> None:
    followers = Followers("q1")
    impatient = asyncio.create_task(followers.wait_for_end())
    patient = asyncio.create_task(followers.wait_for_end())
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    assert not patient.done()

    followers.end()

    await patient
    await followers.wait_for_end()
    assert followers.ended
