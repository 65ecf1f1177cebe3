"""Budgets in whole queries: what is spent, what the answer says, and that a replay needs no table of prices."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from antiphon.composition import (
    Intake,
    NoInterceptor,
    Question,
    Resources,
    ServiceResources,
    Settings,
    need_of,
    rates_of,
)
from antiphon.engine import KNOWN_MODELS, connect
from antiphon.engine import models as model_cards
from antiphon.faults import Plan, Run, World, run_plan
from antiphon.faults.checks.limits import within_budget
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.history.replaying import replay
from antiphon.service import silence_logging
from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Model
from antiphon.vocabulary.values import QuerySettings, Usage
from tests.fakes import command
from tests.fakes_messages_api import (
    Answer,
    EngineStage,
    Reset,
    Stall,
    asked,
    block_started,
    delta,
    recorded,
    refused,
    sse,
    started,
    streamed,
    text_reply,
)

RUN_OUT = ("tokens_run_out", "money_runs_out", "nothing_to_spend")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path)
    structlog.reset_defaults()


def doubts(run: Run) -> list[str]:
    assert run.outcome is not None
    return [doubt.kind for doubt in run.outcome.response.indicators]


@pytest.mark.parametrize("scenario", RUN_OUT)
def test_a_query_keeps_to_its_budget_answers_and_says_so(
    world: World, scenario: str
) -> None:
    run = run_plan(world, Plan(scenario=scenario))

    assert run.outcome is not None
    assert run.outcome.response.citations
    assert "budget" in doubts(run)
    assert list(within_budget(run)) == []


@pytest.mark.parametrize("scenario", RUN_OUT)
def test_a_query_with_a_budget_replays_to_the_same_events_when_prices_are_gone(
    world: World, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_plan(world, Plan(scenario=scenario))
    monkeypatch.setattr(model_cards, "CARDS", {})

    result = replay(run.trace)

    assert (result.divergence, result.closed) == (None, True)


def test_spending_beyond_the_budget_is_a_broken_promise(world: World) -> None:
    run = run_plan(world, Plan(scenario="tokens_run_out"))
    # By the failed call that this test puts into the trace.
    spent = 14_000
    for reply in run.events(e.ReasoningCompleted):
        spent += reply.usage.all_tokens
    at, said = next(
        (at, said)
        for at, said in enumerate(run.trace)
        if isinstance(said.event, e.ReasoningCompleted)
    )
    from_then_on = e.Recorded(
        query_id=said.query_id,
        seq=said.seq,
        cause=said.cause,
        at=said.at,
        event=e.ReasoningFailed(
            call_id="another",
            failure="timeout",
            detail="",
            usage=Usage(input_tokens=14_000, cost_usd=0.0),
        ),
    )
    run.trace.insert(at, from_then_on)

    assert list(within_budget(run)) == [
        f"{spent:,} tokens are spent, 14,000 are allowed"
    ]


async def test_the_reply_of_the_next_attempt_reports_the_tokens_of_one_that_broke_off() -> (
    None
):
    stage = EngineStage(
        Answer([sse(started()), Reset()]), streamed(*text_reply("Hello"))
    )

    done = await stage.call()

    assert isinstance(done, e.ReasoningCompleted)
    assert done.wasted.all_input_tokens == 12
    assert done.usage == Usage(input_tokens=12, output_tokens=7)


async def test_an_attempt_that_was_refused_has_used_nothing() -> None:
    stage = EngineStage(
        refused(529, "overloaded_error"), streamed(*text_reply("Hello"))
    )

    done = await stage.call()

    assert isinstance(done, e.ReasoningCompleted)
    assert done.wasted == Usage()


async def test_there_is_no_further_attempt_once_the_spare_tokens_are_wasted() -> None:
    stage = EngineStage(Answer([sse(started()), Reset()]))

    done = await stage.call(spare_tokens=11)

    assert isinstance(done, e.ReasoningFailed)
    assert done.usage.all_input_tokens == 12
    assert len(stage.api.bodies) == 1


async def test_a_call_that_is_given_up_reports_what_it_has_used() -> None:
    begun = sse(
        started(),
        block_started(0, type="text", text=""),
        delta(0, "text_delta", text="Hel"),
    )
    stage = EngineStage(Answer([begun, Stall()]))
    run = stage.engine.perform(command(recorded(asked())))
    assert run is not None
    while not stage.told:  # noqa: ASYNC110 - there is no event for it
        await asyncio.sleep(0)

    run.abandon("the deadline passed")
    await stage.finish()

    (failed,) = (
        event for event in stage.published if isinstance(event, e.ReasoningFailed)
    )
    assert failed.usage.all_input_tokens == 12


async def test_a_call_that_ran_out_of_time_reports_what_it_has_used() -> None:
    stage = EngineStage(Answer([sse(started()), Stall()]))

    done = await stage.call(timeout_s=0.05)

    assert isinstance(done, e.ReasoningFailed)
    assert (done.failure, done.usage.all_input_tokens) == ("timeout", 12)


def test_the_rates_of_a_query_cover_every_model_that_may_answer(world: World) -> None:
    settings = QuerySettings(model="claude-haiku-5-5", final_model="claude-opus-5-5")

    rates = {rate.model for rate in rates_of(settings, world.parts())}

    assert rates == {"claude-haiku-5-5", "claude-opus-5-5", "fallback"}


def test_a_query_may_want_one_call_more_than_it_has_rounds(world: World) -> None:
    settings = QuerySettings(model="claude-haiku-5-5", max_rounds=2)

    whole = need_of(settings, world.parts())

    # Two rounds of tools, and the final call.
    assert whole == need_of(settings, world.parts(), calls=3)
    assert whole.tokens > need_of(settings, world.parts(), calls=2).tokens > 0


def with_known_prices(world: World) -> Resources:
    """The parts of a world whose models cost what Claude costs."""
    model = connect("key", "http://api.test")
    models: dict[e.Reasoner, Model] = {"primary": model, "fallback": model}
    return dataclasses.replace(world.parts(), model_table=KNOWN_MODELS, models=models)


@pytest.mark.parametrize("model", ["claude-haiku-5-5", "nobody-knows"])
def test_a_call_to_a_model_of_unknown_price_may_cost_anything(
    world: World, model: str
) -> None:
    settings = QuerySettings(model=model, max_rounds=2)

    problem = need_of(settings, with_known_prices(world)).problem

    assert (problem is None) == (model == "claude-haiku-5-5")


async def test_a_limit_of_cost_with_a_model_of_unknown_price_is_refused(
    world: World,
) -> None:
    settings = QuerySettings(model="nobody-knows", max_cost_usd=1.0)
    shared = with_known_prices(world)
    resources = ServiceResources(
        shared=shared,
        store=world.store,
        library=SmallLibrary(WordEmbedder()),
        models=(),
        reasoner="",
        versions=(),
    )
    intake = Intake(Settings.model_construct(), resources)

    with pytest.raises(BadInputError, match="'nobody-knows' costs is not known"):
        await intake.receive(
            Question(query="Why?", settings=settings), world.store, NoInterceptor()
        )
