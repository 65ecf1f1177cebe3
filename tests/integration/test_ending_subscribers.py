"""A subscriber that raises what ends a process, in any of its calls, costs the query nothing but itself."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NoReturn

import pytest

from antiphon.service import Question
from antiphon.vocabulary.deciding import Decider, Rules
from antiphon.vocabulary.events import (
    Event,
    HandlerFailed,
    Live,
    QueryReceived,
    Recorded,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Subscription, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from tests.small_service import house

SCRIPT = {
    "replies": [{"calls": [{"name": "look", "input": {}}]}, {"text": "It is good."}],
    "then": "last",
}


async def look() -> str:
    """Looks something up."""
    return "Something is good."


def exit_now(*_: object) -> NoReturn:
    sys.exit(3)


class Exiting(Decider[int]):
    """Decides to end the process."""

    role = "exiting"
    initial = 0
    rules: Rules[int] = MappingProxyType({ToolSucceeded: exit_now})


async def exit_later() -> None:
    await asyncio.sleep(0)
    sys.exit(3)


def hears(surroundings: Surroundings) -> Sequence[Subscription]:
    return [on(ToolSucceeded, Exits().on_tool_succeeded)]


class Exits:
    """Ends the process when it hears of a result."""

    def on_tool_succeeded(self, _: Recorded[ToolSucceeded]) -> None:
        exit_now()


def works(surroundings: Surroundings) -> Sequence[Subscription]:
    def begin(_: Recorded[QueryReceived]) -> None:
        surroundings.ports.spawn(exit_later())

    return [on(QueryReceived, begin)]


def failures(trace: Sequence[Recorded[Event]]) -> list[tuple[str, str]]:
    return [
        (recorded.event.handler, recorded.event.error)
        for recorded in trace
        if isinstance(recorded.event, HandlerFailed)
    ]


@pytest.mark.parametrize(
    ("subscriber", "failed"),
    [
        (Subscriber("it", decider=Exiting), "Exiting.on_tool_succeeded"),
        (Subscriber("it", act=exit_now), "it.act"),
        (Subscriber("it", act=hears), "Exits.on_tool_succeeded"),
        (Subscriber("it", act=works), "exit_later"),
    ],
    ids=["rule", "act", "handler", "work"],
)
async def test_a_subscriber_that_exits_has_failed_and_the_question_is_answered(
    tmp_path: Path, subscriber: Subscriber, failed: str
) -> None:
    async with house(tmp_path, SCRIPT, look, subscribers=(subscriber,)) as at:
        outcome = await at.service.ask(Question(query="Is it good?"))
        trace = await at.trace(outcome)
        replayed = await at.service.history.replay(outcome.query_id)

    assert outcome.response.answer == "It is good."
    assert "component_failed" in {doubt.kind for doubt in outcome.response.indicators}
    assert failures(trace) == [(failed, "it tried to end the process (SystemExit: 3)")]
    assert replayed.divergence is None


async def test_a_listener_to_live_text_that_exits_gets_nothing_more(
    tmp_path: Path,
) -> None:
    told: list[Live] = []

    def hear(live: Live) -> None:
        told.append(live)
        sys.exit(3)

    def listen(surroundings: Surroundings) -> Sequence[Subscription]:
        surroundings.hear_live(hear)
        return []

    async with house(
        tmp_path, SCRIPT, look, subscribers=(Subscriber("it", act=listen),)
    ) as at:
        query = await at.service.start(Question(query="Is it good?"))
        async for _ in query.follow():
            pass
        outcome = await query.outcome()
        trace = await at.trace(outcome)

    assert outcome.response.answer == "It is good."
    assert len(told) == 1
    assert failures(trace) == []
