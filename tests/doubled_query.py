"""A whole query in virtual time: the real wiring, the double as the model, tools of the test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec.structs import replace

from antiphon.bus import Bus
from antiphon.composition import Outcome, Resources, outcome_of, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, ToolTimes, tool_from_function
from antiphon.engine import (
    CitationStyles,
    Double,
    InProcessTransport,
    ModelSpeeds,
    Profile,
    Script,
    connect,
    offline_model,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import QuerySettings
from tests.fakes import MemoryTraceStore
from tests.guarded import guarded
from tests.virtual_time import VirtualClock


class Query:
    """A finished query: its events with their times, its outcome, and the double with the model's requests."""

    def __init__(
        self, events: list[Recorded[Event]], outcome: Outcome, double: Double
    ) -> None:
        self.events = events
        self.outcome = outcome
        self.double = double

    def of(self, kind: type[Event]) -> list[Event]:
        """The events of one kind."""
        return [said.event for said in self.events if isinstance(said.event, kind)]

    def at(self, kind: type[Event]) -> float:
        """Seconds from the question to the first event of this kind."""
        return (
            next(said.at for said in self.events if isinstance(said.event, kind))
            - self.events[0].at
        )


async def ask(
    script: Script,
    *tools: Callable[..., Awaitable[object]],
    settings: QuerySettings | None = None,
    question: str = "How do logs grow?",
    profile: Profile | None = None,
    speeds: ModelSpeeds | None = None,
    times: ToolTimes | None = None,
    subscribers: tuple[Subscriber, ...] = (),
    **first: Any,
) -> Query:
    """Asks one question; call it through `virtual_time.run`.

    Args:
        speeds: The writing speeds of models in earlier queries.
        times: The durations of tools in earlier queries.
        first: Further fields of the query's first event, such as `history`.
    """
    clock, store = VirtualClock(), MemoryTraceStore()
    double = Double(script)
    model = connect("key", "http://double.test", transport=InProcessTransport(double))
    registry = Registry([tool_from_function(tool) for tool in tools])
    parts = Resources(
        clock=clock,
        models={"primary": model, "fallback": offline_model()},
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=guarded(),
        styles=CitationStyles({"primary": profile} if profile else {}),
        model_speeds=speeds or ModelSpeeds(),
        tool_times=times or ToolTimes(),
        subscribers=subscribers,
    )
    bus = Bus(store, clock)
    session = bus.open("q", lambda ports: wire(parts, ports).subscriptions())
    received = receive(question, "s", settings or QuerySettings())
    session.start(replace(received, **first))
    await session.ended()
    await bus.close()
    return Query(list(await store.read("q")), outcome_of(session.emitted), double)
