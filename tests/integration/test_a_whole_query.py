"""Whole queries on the real wiring: if the model or a part fails, an answer still comes, and says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import QuerySettings, Request
from tests.fakes import FixedClock
from tests.whole_query import House, ScriptedModel, reply, spoiled


def search(query: str) -> tuple[str, Json]:
    return "search_course_content", {"query": query}


async def down(_: Request) -> Sequence[Json]:
    raise ModelError("authentication", "the key is unknown there")


def indicators(answer: e.ResponseAssembled) -> list[str]:
    return [indicator.kind for indicator in answer.indicators]


async def test_two_rounds_of_tools_and_three_calls_give_an_answer_without_doubt() -> (
    None
):
    model = ScriptedModel(
        reply("I look.", search("bm25")),
        reply("More.", search("cosine")),
        reply("Both rank."),
    )
    house = House(model)

    outcome = await house.ask("What ranks?")

    assert (outcome.status, outcome.response.rounds, outcome.response.calls) == (
        "answered",
        2,
        3,
    )
    assert outcome.response.answer == "Both rank."
    assert model.requests[-1].tools is None


async def test_a_model_that_never_stops_calling_tools_is_stopped_after_two_rounds() -> (
    None
):
    steps = [reply(f"Round {n}.", search(f"topic {n}")) for n in range(9)]
    model = ScriptedModel(*steps)

    outcome = await House(model).ask("What ranks?")

    assert len(model.requests) == 3
    assert outcome.response.answer == "Round 2."
    assert "round_limit" in indicators(outcome.response)


async def test_a_model_that_is_down_is_replaced_by_the_fallback_and_the_answer_says_so() -> (
    None
):
    house = House(ScriptedModel(down))

    outcome = await house.ask("What does the lesson say of backoff?")

    assert outcome.status == "answered"
    assert outcome.response.reasoner == "offline"
    assert "fallback_reasoner" in indicators(outcome.response)
    assert outcome.response.citations


async def test_with_no_model_at_all_the_query_still_ends_in_plain_words() -> None:
    house = House(ScriptedModel(down), fallback=ScriptedModel(down))

    outcome = await house.ask("What ranks?")

    assert outcome.status == "partial"
    assert outcome.response.confidence == "low"
    assert "no model could be asked" in outcome.response.answer
    assert "the key is" not in outcome.response.answer


async def test_a_model_that_falls_silent_in_the_final_call_costs_no_more_than_the_deadline() -> (
    None
):
    clock = FixedClock()
    waiting = asyncio.Event()

    async def silent(_: Request) -> Sequence[Json]:
        waiting.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody wakes it")

    house = House(ScriptedModel(reply("", search("bm25")), silent), clock=clock)
    asking = asyncio.create_task(
        house.ask("What is bm25?", QuerySettings(max_rounds=1, deadline_s=20))
    )
    await waiting.wait()

    clock.advance(19.0)  # both deadlines, with what they lead to in between
    while not asking.done():
        await asyncio.sleep(0)
        clock.advance(0.0)

    outcome = asking.result()
    assert outcome.status == "partial"
    assert outcome.duration_ms <= 20_000
    assert "This lesson speaks of bm25." in outcome.response.answer
    assert "deadline" in indicators(outcome.response)


@pytest.mark.parametrize(
    ("kind", "owner"),
    [
        (e.RoundOpened, "ContextSynthesizer"),
        (e.BriefingPrepared, "ResponseAssembler"),
        (e.ReasoningRequested, "ReasoningEngine"),
        (e.ReasoningCompleted, "QueryCoordinator"),
        (e.ToolRequested, "ToolDispatcher"),
        (e.ToolCallsConfirmed, "ToolDispatcher"),
        (e.ToolsSettled, "ContextSynthesizer"),
        (e.ToolsSettled, "QueryCoordinator"),
        (e.ContextSynthesized, "ResponseAssembler"),
        (e.AnswerRequested, "ResponseAssembler"),
        (e.QueryReceived, "DeadlineTimer"),
        (e.QueryReceived, "QueryCoordinator"),
        (e.ResponseAssembled, "QueryCoordinator"),
    ],
)
async def test_a_handler_that_raises_is_recorded_and_an_answer_comes_all_the_same(
    kind: type[e.Event], owner: str
) -> None:
    model = ScriptedModel(reply("", search("bm25")), reply("It ranks."))
    house = House(model, spoil=spoiled(kind, owner))

    async with asyncio.timeout(10):
        outcome = await house.ask("What is bm25?")

    trace = await house.trace()
    assert outcome.response.answer
    assert any(isinstance(event, e.HandlerFailed) for event in trace)
    assert isinstance(trace[-1], e.QueryClosed)


async def test_queries_at_once_never_mix_their_sources() -> None:
    async def by_question(request: Request) -> Sequence[Json]:
        await asyncio.sleep(0)
        text = request.messages[0].content[-1].text
        topic = text.split("topic ")[1].split("?")[0]
        has_facts = len(request.messages[0].content) > 2
        return reply("Here.") if has_facts else reply("", search(topic))

    house = House(ScriptedModel(by_question))
    ids = [f"q{number}" for number in range(50)]

    await asyncio.gather(
        *(house.ask(f"What of topic {id_}?", query_id=id_) for id_ in ids)
    )

    for id_ in ids:
        facts = [
            fact
            for said in await house.trace(id_)
            if isinstance(said, e.ContextSynthesized)
            for fact in said.facts
        ]
        assert [fact.passage.source for fact in facts] == [
            f"Course of {id_} - Lesson 1"
        ]


async def test_every_event_is_caused_by_one_before_it() -> None:
    house = House(ScriptedModel(reply("", search("a"), search("b")), reply("Done.")))

    await house.ask("Compare a and b")

    trace = await house.store.read("q")
    assert [recorded.seq for recorded in trace] == list(range(1, len(trace) + 1))
    assert [recorded.cause for recorded in trace[:1]] == [0]
    assert all(0 < recorded.cause < recorded.seq for recorded in trace[1:])
