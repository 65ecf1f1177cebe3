"""Antiphon's own components over a model and tools, wired as the service wires them, recording into SQLite."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import cast

from antiphon.bus import Bus, Session, SystemClock
from antiphon.composition import Outcome, Resources, outcome_of, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Model, TraceStore
from antiphon.vocabulary.values import QuerySettings

ToolFunction = Callable[..., Awaitable[object]]


class ForgetfulStore:
    """A trace store that stores nothing: a query's saving with it is the cost of appending."""

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        """Discards the events."""


class OurSide:
    """The components, ready for queries; `records=False` discards their events."""

    def __init__(
        self,
        model: Model,
        functions: Sequence[ToolFunction],
        folder: Path,
        *,
        records: bool = True,
    ) -> None:
        clock = SystemClock()
        registry = Registry([tool_from_function(function) for function in functions])
        self.store = SqliteTraceStore.open(folder)
        store: TraceStore = self.store
        if not records:
            # A cast, because the bus only ever appends.
            store = cast(TraceStore, ForgetfulStore())
        self._bus = Bus(store, clock)
        self._resources = Resources(
            clock=clock,
            models={"primary": model, "fallback": model},
            tools=registry,
            tool_definitions=registry.definitions(),
        )

    async def ask(
        self, query_id: str, question: str, settings: QuerySettings | None = None
    ) -> Outcome:
        """Runs one query to its end."""
        session = self._open(query_id)
        await session.run(receive(question, "bench", settings or QuerySettings()))
        return outcome_of(session.emitted)

    async def follow(self, query_id: str, question: str) -> Outcome:
        """Runs one query to its end with a live reader."""
        session = self._open(query_id)
        session.start(receive(question, "bench", QuerySettings()))
        async for _ in session.follow():
            pass
        await session.ended()
        return outcome_of(session.emitted)

    def _open(self, query_id: str) -> Session:
        return self._bus.open(
            query_id, lambda ports: wire(self._resources, ports).subscriptions()
        )

    async def close(self) -> None:
        await self._bus.close()
        await self.store.close()
