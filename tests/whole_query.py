"""A whole query on the real wiring, with scripted models and tools, a memory store, and a clock that tests advance."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from antiphon.bus import Bus
from antiphon.composition import (
    BuildOutside,
    Outcome,
    Resources,
    live_outside,
    outcome_of,
    wire,
)
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, quotable, tool_from_function
from antiphon.engine import offline_model
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import (
    Clock,
    Json,
    Model,
    Ports,
    Subscription,
    ToolOutput,
)
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Exchange, QuerySettings, Request
from tests.fakes import FixedClock, MemoryTraceStore
from tests.guarded import guarded

Script = Callable[[Request], Awaitable[Sequence[Json]]]


def reply(
    text: str = "", *calls: tuple[str, Json], stop_reason: str | None = None
) -> list[Json]:
    """The stream events of a reply with text and tool calls; ids derive from the calls themselves."""
    blocks: list[Json] = [{"type": "text", "text": text}] if text else []
    blocks += [
        {
            "type": "tool_use",
            "id": f"toolu_{name}_{json.dumps(input_)}",
            "name": name,
            "input": input_,
        }
        for name, input_ in calls
    ]
    events: list[Json] = [
        {
            "type": "message_start",
            "message": {"id": "msg", "model": "scripted", "usage": {}},
        }
    ]
    for index, block in enumerate(blocks):
        events += [
            {"type": "content_block_start", "index": index, "content_block": block},
            {"type": "content_block_stop", "index": index},
        ]
    ended = {"stop_reason": stop_reason or ("tool_use" if calls else "end_turn")}
    return [
        *events,
        {"type": "message_delta", "delta": ended, "usage": {}},
        {"type": "message_stop"},
    ]


class ScriptedModel:
    """Answers each request with the next step of its script; the last step repeats."""

    name = "scripted"

    def __init__(self, *steps: Script | list[Json]) -> None:
        self._steps = list(steps)
        self.requests: list[Request] = []

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self.requests.append(request)
        step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
        for event in step if isinstance(step, list) else await step(request):
            yield event


async def search_course_content(query: str) -> ToolOutput:
    """Finds one passage that speaks of what was asked.

    Args:
        query: What to look for.
    """
    passage = quotable(
        f"Course of {query} - Lesson 1",
        f"This lesson speaks of {query}. It says no more.",
    )
    return ToolOutput(text=passage.text.text, passages=(passage,))


@dataclass
class House:
    """Parts for queries; `spoil` may replace a handler of the wiring by a faulty one."""

    primary: Model
    fallback: Model = field(default_factory=offline_model)
    clock: Clock = field(default_factory=FixedClock)
    store: MemoryTraceStore = field(default_factory=MemoryTraceStore)
    spoil: Callable[[Sequence[Subscription]], Sequence[Subscription]] = lambda wired: (
        wired
    )
    subscribers: tuple[Subscriber, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    outside: BuildOutside = live_outside

    def __post_init__(self) -> None:
        registry = Registry([tool_from_function(search_course_content)])
        self._parts = Resources(
            clock=self.clock,
            models={"primary": self.primary, "fallback": self.fallback},
            tools=registry,
            tool_definitions=registry.definitions(),
            redaction=guarded(),
            subscribers=self.subscribers,
            outside=self.outside,
        )
        self.bus = Bus(self.store, self.clock, self._parts.catalog)

    async def ask(
        self,
        query: str,
        settings: QuerySettings | None = None,
        query_id: str = "q",
        history: tuple[Exchange, ...] = (),
    ) -> Outcome:
        """Asks, and waits for the outcome."""

        def components(ports: Ports) -> Sequence[Subscription]:
            return self.spoil(wire(self._parts, ports).subscriptions())

        first = receive(query, "s", settings or QuerySettings())
        reviewers = tuple(
            subscriber.name for subscriber in self.subscribers if subscriber.reviews
        )
        session = self.bus.open(query_id, components)
        await session.run(
            replace(
                first,
                reviewers=reviewers,
                versions=self.versions,
                history=history,
            )
        )
        return outcome_of(session.emitted)

    async def trace(self, query_id: str = "q") -> list[Event]:
        """The recorded events, in order."""
        return [recorded.event for recorded in await self.store.read(query_id)]


def kinds(events: Sequence[Event]) -> list[str]:
    """The events' kinds."""
    return [str(event.__struct_config__.tag) for event in events]


def spoiled(
    kind: type[Event], owner: str
) -> Callable[[Sequence[Subscription]], Sequence[Subscription]]:
    """Makes a component's (`owner`) handler for one kind of event raise an error."""

    def broken(_: Recorded[Event]) -> None:
        raise RuntimeError("a bug")

    def spoil(wired: Sequence[Subscription]) -> Sequence[Subscription]:
        spoiled: list[Subscription] = []
        for subscription in wired:
            if subscription.kind is kind and subscription.component == owner:
                subscription = subscription._replace(handler=broken)
            spoiled.append(subscription)
        return spoiled

    return spoil
