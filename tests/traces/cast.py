"""A cast for whole queries: the real wiring over a model and tools that follow a seeded script on a virtual clock.
Everything that can happen to a query does, and the same seed makes the same query."""

from __future__ import annotations

import asyncio
import heapq
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from antiphon.bus import Bus
from antiphon.composition import Outcome, Resources, outcome_of, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, Tool, tool_from_function
from antiphon.engine import (
    SYSTEM_VERSION,
    CitationStyles,
    Profile,
    events_of,
    write_catalogue,
)
from antiphon.vocabulary.errors import ModelError, NotFoundError
from antiphon.vocabulary.events import QueryCancelled, Reasoner, Recorded
from antiphon.vocabulary.ports import (
    EventLog,
    Handler,
    Json,
    Model,
    Subscription,
    ToolOutput,
)
from antiphon.vocabulary.values import Passage, QuerySettings, Request, StoredText
from tests.guarded import guarded

SENTENCES = [
    f"{subject} {verb} {thing}. "
    for subject in (
        "BM25",
        "A circuit breaker",
        "An event log",
        "The retry budget",
        "A vector index",
    )
    for verb in ("ranks", "opens after", "records", "limits", "compares")
    for thing in (
        "every failure",
        "rare words",
        "each decision",
        "documents by meaning",
        "half-open probes",
    )
]

CATALOGUE = write_catalogue([("Ranking", 3), ("Reliability", 1)])


class VirtualClock:
    """Time that passes only while all tasks sleep: the earliest sleeper wakes when the loop has nothing else to do."""

    def __init__(self, at: float = 1_700_000_000.0) -> None:
        self._now = at
        self._sleepers: list[tuple[float, int, asyncio.Event]] = []
        self._count = 0
        self._waking: asyncio.Task[None] | None = None

    def now(self) -> float:
        # Each reading moves the time on a little, so that no two events share a moment.
        self._now += 1e-6
        return self._now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._count += 1
        heapq.heappush(self._sleepers, (self._now + seconds, self._count, woken))
        if self._waking is None or self._waking.done():
            self._waking = asyncio.get_running_loop().create_task(self._wake())
        await woken.wait()

    async def _wake(self) -> None:
        while self._sleepers:
            for _ in range(
                12
            ):  # turns of the loop in which every other task finishes its work
                await asyncio.sleep(0)
            due, _, woken = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            woken.set()


class SeededModel:
    """A model whose replies, failures and pauses come from a seed."""

    def __init__(
        self,
        dice: random.Random,
        clock: VirtualClock,
        trouble: float,
        name: str | None = None,
    ) -> None:
        self._dice = dice
        self._clock = clock
        self._trouble = trouble
        self._name = name
        self._calls = 0

    @property
    def name(self) -> str | None:
        return self._name

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self._calls += 1
        await self._clock.sleep(
            self._dice.choice(
                [0.0, 0.2, 1.0, 25.0 if self._dice.random() < self._trouble else 0.1]
            )
        )
        self._maybe_fail("rate_limit", "overloaded", "authentication", "connection")
        for event in events_of(self._message(request)):
            if event["type"] == "content_block_stop":
                await self._clock.sleep(self._dice.choice([0.0, 0.05]))
                self._maybe_fail("truncated_stream", "silence", "stream_error")
            yield event

    def _maybe_fail(self, *kinds: str) -> None:
        if self._dice.random() < self._trouble / 3:
            kind = self._dice.choice(kinds)
            raise ModelError(
                kind, f"scripted {kind}", retryable=self._dice.random() < 0.5
            )

    def _message(self, request: Request) -> Json:
        content: list[Json] = []
        wants_tools = request.tools is not None and self._dice.random() < 0.8
        if wants_tools or self._dice.random() < 0.1:
            content += [
                self._call(number) for number in range(self._dice.randint(1, 4))
            ]
        if not content or self._dice.random() < 0.5:
            content.insert(0, self._text(request))
        stop = (
            "tool_use"
            if any(block["type"] == "tool_use" for block in content)
            else "end_turn"
        )
        if self._dice.random() < self._trouble / 4:
            stop = self._dice.choice(
                ["refusal", "max_tokens", "something_new", "pause_turn"]
            )
        usage = {"input_tokens": 100, "output_tokens": 20}
        return {
            "id": f"m{self._calls}", "model": "seeded", "content": content, "stop_reason": stop, "usage": usage,
        }  # fmt: skip

    def _call(self, number: int) -> Json:
        name = self._dice.choice(
            ["search", "search", "lookup", "flaky", "slow", "nothing"]
        )
        arguments: Json = {
            "text": self._dice.choice(["bm25", "breaker", "log", "retry"]),
            "why": "to know",
        }
        if self._dice.random() < 0.08:
            arguments = {"wrong": 1}
        return {
            "type": "tool_use",
            "id": f"t{self._calls}-{number}",
            "name": name,
            "input": arguments,
        }

    def _text(self, request: Request) -> Json:
        text = "" if self._dice.random() < 0.05 else self._dice.choice(SENTENCES)
        block: Json = {"type": "text", "text": text}
        sources = sum(
            '"search_result"' in part.text
            for message in request.messages
            for part in message.content
        )
        if sources and text:
            at = self._dice.randrange(
                sources + 1
            )  # now and then a source that does not exist
            block["citations"] = [
                {
                    "type": "search_result_location", "search_result_index": at, "start_block_index": 0,
                    "end_block_index": 1, "cited_text": text, "source": "s", "title": None,
                }
            ]  # fmt: skip
        return block


def seeded_tools(dice: random.Random, clock: VirtualClock, trouble: float) -> Registry:  # noqa: C901 - five small ones
    """Tools that find, fail, dawdle and find nothing."""

    def passages(text: str) -> tuple[Passage, ...]:
        found = dice.sample(range(60), dice.randint(0, 5))
        return tuple(_passage(number, text) for number in found)

    async def search(text: str) -> ToolOutput:
        """Searches the courses."""
        await clock.sleep(dice.choice([0.0, 0.1, 0.3, 2.0]))
        return ToolOutput(text=f"results for {text}", passages=passages(text))

    async def lookup(text: str) -> str:
        """Looks something up."""
        await clock.sleep(dice.choice([0.0, 0.2]))
        if dice.random() < trouble:
            raise NotFoundError(f"there is no {text}")
        return dice.choice(SENTENCES) * 3

    async def flaky(text: str) -> str:
        """Fails often."""
        await clock.sleep(0.05)
        if dice.random() < 0.3 + trouble:
            raise RuntimeError(f"cannot {text}")
        return dice.choice(SENTENCES)

    async def slow(text: str) -> str:
        """Takes long."""
        await clock.sleep(
            dice.choice([0.5, 4.0, 30.0 if dice.random() < trouble else 1.0])
        )
        return dice.choice(SENTENCES)

    async def nothing(text: str) -> None:
        """Finds nothing."""

    tools: list[Tool] = [
        tool_from_function(search, retry_safe=True),
        tool_from_function(lookup),
        tool_from_function(flaky, substitutes=("lookup",)),
        tool_from_function(slow),
        tool_from_function(nothing),
    ]
    return Registry(tools)


def _passage(number: int, text: str) -> Passage:
    first, second = SENTENCES[number * 2], SENTENCES[number * 2 + 1]
    course = f"Course {number % 4}"
    return Passage(
        id=f"p{number}",
        source=f"{course} - Lesson {number % 7}",
        text=StoredText(first + second * (1 + number % 30)),
        starts=(0, len(first)),
        course=course,
        lesson=number % 7,
        score=0.5,
    )


def settings_of(dice: random.Random) -> QuerySettings:
    """Random settings that make every limit bite now and then."""
    return QuerySettings(
        max_rounds=dice.choice([0, 1, 2, 2, 2, 3]),
        deadline_s=dice.choice([3.0, 20.0, 60.0, 60.0]),
        final_reserve_s=dice.choice([1.0, 15.0]),
        tool_timeout_s=dice.choice([1.0, 10.0]),
        max_tool_calls=dice.choice([2, 8]),
        briefing_tokens=dice.choice([200, 400, 6000]),
        early_dispatch=dice.random() < 0.7,
        on_tool_failure=dice.choice(["recover", "recover", "recover", "stop"]),
    )


BREAKABLE = (
    "QueryCoordinator.on_briefing_prepared",
    "QueryCoordinator.on_tool_call_streamed",
    "QueryCoordinator.on_context_synthesized",
    "ContextSynthesizer.on_tools_settled",
    "ContextSynthesizer.on_round_opened",
    "ResponseAssembler.on_answer_requested",
    "ResponseAssembler.on_reasoning_completed",
    "ReasoningEngine.on_reasoning_requested",
    "ToolDispatcher.on_tool_requested",
)
"""Handlers that a query may have fail."""


def _broken(
    subscriptions: Sequence[Subscription], name: str | None
) -> list[Subscription]:
    broken: list[Subscription] = []
    for subscription in subscriptions:
        if subscription.name == name:
            subscription = subscription._replace(
                handler=_failing_once(subscription.handler)
            )
        broken.append(subscription)
    return broken


def _failing_once(handler: Handler) -> Handler:
    calls: list[Recorded[Any]] = []

    def fail(recorded: Recorded[Any]) -> None:
        calls.append(recorded)
        if len(calls) == 1:
            raise RuntimeError("a fault, planted")
        handler(recorded)

    return fail


async def play(
    seed: int,
    store: EventLog,
    *,
    breaks: bool = True,
    profile: Profile | None = None,
    settings: Mapping[str, object] | None = None,
) -> Outcome:
    """Plays one query from the seed; its id is `q<seed>`.

    Args:
        profile: The capabilities of the primary reasoner's server; None for all.
        settings: Settings of the query that replace the seed's.
    """
    dice = random.Random(seed)
    clock = VirtualClock()
    trouble = dice.choice([0.0, 0.1, 0.5])
    registry = seeded_tools(dice, clock, trouble)
    models: dict[Reasoner, Model] = {
        "primary": SeededModel(dice, clock, trouble),
        "fallback": SeededModel(dice, clock, trouble / 2, name="offline"),
    }
    parts = Resources(
        clock=clock,
        models=models,
        tools=registry,
        tool_definitions=registry.definitions(),
        styles=CitationStyles({"primary": profile or Profile()}),
        redaction=guarded(),
    )
    bus = Bus(store, clock)
    broken = dice.choice(list(BREAKABLE)) if breaks and dice.random() < 0.15 else None
    session = bus.open(
        f"q{seed}",
        lambda ports: _broken(wire(parts, ports).subscriptions(), broken),
    )
    wishes = settings_of(dice)
    if seed % 3 == 0:
        wishes = replace(
            wishes,
            compression="model",
            briefing_tokens=max(600, wishes.briefing_tokens),
        )
    if settings is not None:
        wishes = replace(wishes, **settings)
    first = receive(
        "What does BM25 rank, and when does a breaker open?", f"s{seed % 7}", wishes
    )
    session.start(
        replace(
            first,
            provider_open=dice.random() < 0.05,
            versions=(
                ("system_prompt", SYSTEM_VERSION),
                ("tools", registry.definitions().key),
            ),
            catalogue=StoredText(CATALOGUE),
        )
    )
    if dice.random() < 0.05:
        await clock.sleep(dice.choice([0.0, 1.5]))
        session.publish(QueryCancelled(why="the caller went away"))
    await session.ended()
    return outcome_of(session.emitted)
