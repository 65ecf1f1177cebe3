"""The memory from query to query, the circuits of the provider and of each tool, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import structlog

from antiphon.faults import Fault, Injector, World
from antiphon.faults.ports.virtual_time import run
from antiphon.service import Antiphon, Question, silence_logging
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.values import QuerySettings

REST_S = 30.0
AWAY = Fault(point="model.request", kind="drop", times=0)
NO_SEARCH = Fault(point="tool.search_course_content", kind="raise", times=0)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path)
    structlog.reset_defaults()


def in_one_service(world: World, work: Any) -> Any:
    """Runs `work` with one service that lives through all its queries."""

    async def through() -> Any:
        service = world.service()
        try:
            return await work(service)
        finally:
            await service.leave()

    return run(through())


async def ask(service: Antiphon, *faults: Fault, **settings: Any) -> list[Event]:
    """Asks one question under its own faults; returns its events."""
    question = Question(
        query="What are the states of a circuit breaker?",
        settings=QuerySettings(**settings),
    )
    outcome = await (await service.start(question, Injector(faults))).outcome()
    return [said.event for said in await service.store.read(outcome.query_id)]


def of(events: Sequence[Event], kind: type[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def reasoners(events: Sequence[Event]) -> set[str]:
    return {event.reasoner for event in of(events, e.ReasoningRequested)}


def test_queries_leave_a_provider_alone_after_five_failures_until_one_of_them_probes_it(
    world: World,
) -> None:
    async def work(service: Antiphon) -> list[set[str]]:
        seen = [reasoners(await ask(service, AWAY)) for _ in range(5)]
        seen.append(reasoners(await ask(service)))
        await asyncio.sleep(REST_S)
        seen.append(reasoners(await ask(service, AWAY)))  # the probe fails
        seen.append(reasoners(await ask(service)))
        await asyncio.sleep(REST_S)
        seen.append(reasoners(await ask(service)))  # the probe succeeds
        seen.append(reasoners(await ask(service)))
        return seen

    failing, left_alone, probe, well = (
        {"primary", "fallback"},
        {"fallback"},
        {"primary", "fallback"},
        {"primary"},
    )
    assert in_one_service(world, work) == [
        *[failing] * 5,
        left_alone,
        probe,
        left_alone,
        well,
        well,
    ]


def test_an_open_circuit_is_a_fact_of_the_query_and_its_answer_says_so(
    world: World,
) -> None:
    async def work(service: Antiphon) -> list[Event]:
        for _ in range(5):
            await ask(service, AWAY)
        return await ask(service)

    events = in_one_service(world, work)

    assert events[0].provider_open
    assert [event.limit for event in of(events, e.BreakerTripped)] == ["provider_open"]
    (answer,) = of(events, e.ResponseAssembled)
    assert "fallback_reasoner" in {doubt.kind for doubt in answer.indicators}


def test_other_queries_skip_a_tool_that_keeps_failing_until_its_rest_is_over(
    world: World,
) -> None:
    async def work(service: Antiphon) -> list[list[Event]]:
        for _ in range(3):
            await ask(service, NO_SEARCH)
        passed_over = await ask(service)
        await asyncio.sleep(REST_S)
        return [passed_over, await ask(service), await ask(service)]

    passed_over, probe, after = in_one_service(world, work)

    whys = {event.why for event in of(passed_over, e.ToolSubstituted)}
    assert whys == {
        "search_course_content failed too often of late and is left alone for a while"
    }
    assert of(probe, e.ToolSubstituted) == of(after, e.ToolSubstituted) == []


def test_a_query_that_stops_at_a_failed_tool_keeps_the_earlier_findings_and_names_the_failure(
    world: World,
) -> None:
    second = Fault(point="library.*", kind="raise", when="round_2", times=0)

    async def work(service: Antiphon) -> list[Event]:
        return await ask(service, second, max_rounds=5, on_tool_failure="stop")

    events = in_one_service(world, work)

    assert [event.limit for event in of(events, e.BreakerTripped)] == ["tool_failed"]
    assert [event.final for event in of(events, e.RoundOpened)] == [False, False, True]
    (answer,) = of(events, e.ResponseAssembled)
    assert answer.citations
    assert "The tool search_course_content returned nothing" in " ".join(
        doubt.detail for doubt in answer.indicators
    )


def test_a_query_that_recovers_opens_a_round_after_the_failed_one(world: World) -> None:
    first = Fault(point="library.*", kind="raise", when="round_1", times=0)

    events = in_one_service(world, lambda service: ask(service, first))

    assert of(events, e.BreakerTripped) == []
    assert [event.final for event in of(events, e.RoundOpened)] == [False, False, True]
