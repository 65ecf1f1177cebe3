"""Nothing of a query is left when it has ended."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Sequence
from typing import Any, ClassVar

from antiphon.bus import Bus
from antiphon.vocabulary.events import (
    Event,
    HandlerFailed,
    QueryClosed,
    QueryReceived,
    Recorded,
    SessionStalled,
    TextDelta,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from antiphon.vocabulary.values import StoredText
from tests.fakes import HastyClock, MemoryTraceStore
from tests.story import query_received, tool_succeeded

QUERIES = 1000


class Forgetful(MemoryTraceStore):
    """Keeps nothing, so that what is kept can only be the bus's."""

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        """Takes and forgets."""


class Component:
    """Works in the background and in the foreground, and fails now and then."""

    alive: ClassVar[weakref.WeakSet[Component]] = weakref.WeakSet()

    def __init__(self, ports: Ports, number: int) -> None:
        self.ports = ports
        self.number = number
        self.memory = ["something large"] * 1000
        Component.alive.add(self)

    def subscriptions(self) -> Sequence[Subscription]:
        """What it hears."""
        return [
            on(QueryReceived, self.on_query),
            on(ToolSucceeded, self.on_tool),
            on(HandlerFailed, self.on_failure),
            on(SessionStalled, self.on_failure),
        ]

    def on_query(self, recorded: Recorded[QueryReceived]) -> None:
        self.ports.spawn(asyncio.sleep(3600), background=True)
        self.ports.spawn(self.work())

    async def work(self) -> None:
        self.ports.emit_live(TextDelta(call_id="c1", text="word"))
        await asyncio.sleep(0)
        self.ports.publish(tool_succeeded("text"))

    def on_tool(self, recorded: Recorded[ToolSucceeded]) -> None:
        if self.number % 100 == 0:
            raise ValueError("now and then")
        self.ports.publish(QueryClosed(status="answered"))

    def on_failure(self, recorded: Recorded[Any]) -> None:
        self.ports.publish(QueryClosed(status="partial"))


def texts_of_events() -> int:
    """Counts the texts of tool results in memory: the collector does not see the events that hold them."""
    return sum(isinstance(thing, StoredText) for thing in gc.get_objects())


async def test_after_a_thousand_queries_no_task_session_component_or_event_is_left() -> (
    None
):
    gc.collect()
    before = texts_of_events()
    bus = Bus(Forgetful(), HastyClock())
    sessions: weakref.WeakSet[Any] = weakref.WeakSet()

    async def ask(number: int) -> None:
        session = bus.open(
            f"q{number}", lambda ports: Component(ports, number).subscriptions()
        )
        sessions.add(session)
        session.start(query_received())
        follower = session.follow(buffer=3 if number % 5 else 1)
        await session.stopped()
        follower.close()

    await asyncio.gather(*(ask(number) for number in range(QUERIES)))
    gc.collect()

    assert texts_of_events() == before
    assert not bus.sessions
    assert len(asyncio.all_tasks()) == 1
    assert len(sessions) == 0
    assert len(Component.alive) == 0


class Settled:
    """Answers with a tool's result, and closes the query; nothing fails."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def subscriptions(self) -> Sequence[Subscription]:
        """What it hears."""
        return [on(QueryReceived, self.on_query), on(ToolSucceeded, self.on_tool)]

    def on_query(self, recorded: Recorded[QueryReceived]) -> None:
        self.ports.spawn(self.work())

    async def work(self) -> None:
        await asyncio.sleep(0)
        self.ports.publish(tool_succeeded("text"))

    def on_tool(self, recorded: Recorded[ToolSucceeded]) -> None:
        self.ports.publish(QueryClosed(status="answered"))


async def test_a_finished_query_is_freed_without_the_garbage_collector() -> None:
    bus = Bus(Forgetful(), HastyClock())
    gc.collect()
    before = texts_of_events()
    gc.disable()
    try:
        for number in range(20):
            session = bus.open(
                f"q{number}", lambda ports: Settled(ports).subscriptions()
            )
            await session.run(query_received())
        del session
        for _ in range(3):
            await asyncio.sleep(0)
        left = texts_of_events()
    finally:
        gc.enable()

    assert left == before
