"""The account of one call: what a request may take is debited before it is sent, and credited when its server says."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import Usage
from tests.fakes import command
from tests.fakes_messages_api import (
    Answer,
    EngineStage,
    Reset,
    asked,
    recorded,
    refused,
    sse,
    started,
    streamed,
    text_reply,
)

SILENT = {"input_tokens": 0, "output_tokens": 0}


def begun(stage: EngineStage) -> list[e.ReasoningStarted]:
    return [each for each in stage.published if isinstance(each, e.ReasoningStarted)]


def retried(stage: EngineStage) -> list[e.ReasoningRetried]:
    return [each for each in stage.published if isinstance(each, e.ReasoningRetried)]


async def test_the_most_of_a_request_is_its_bytes_and_its_longest_reply() -> None:
    stage = EngineStage(streamed(*text_reply("Hello")))

    done = await stage.call(max_tokens=300)

    [first] = begun(stage)
    assert first.most.output_tokens == first.request.max_tokens
    assert first.most.input_tokens > len(first.request.system.text) / 2
    assert isinstance(done, e.ReasoningCompleted)
    assert done.unreported == Usage()


async def test_an_attempt_that_broke_off_counts_for_the_rest_of_its_reply() -> None:
    stage = EngineStage(
        Answer([sse(started()), Reset()]), streamed(*text_reply("Hello"))
    )

    done = await stage.call()

    [first, _] = begun(stage)
    [again] = retried(stage)
    assert isinstance(done, e.ReasoningCompleted)
    # Its server said what it had read, and how its reply began.
    assert done.wasted.all_input_tokens == 12
    assert done.unreported.input_tokens == 0
    assert again.counted.output_tokens == first.request.max_tokens
    assert again.counted == done.wasted + done.unreported
    assert (again.counted.cost_usd or 0.0) > 0.0


async def test_an_attempt_that_broke_off_without_a_word_counts_for_all_that_it_may_have_taken() -> (
    None
):
    stage = EngineStage(Answer([Reset()]), streamed(*text_reply("Hello")))

    done = await stage.call()

    [first, _] = begun(stage)
    assert isinstance(done, e.ReasoningCompleted)
    assert done.unreported == first.most


async def test_a_refused_attempt_counts_for_nothing() -> None:
    stage = EngineStage(
        refused(529, "overloaded_error"), streamed(*text_reply("Hello"))
    )

    done = await stage.call()

    [again] = retried(stage)
    assert again.counted == Usage()
    assert isinstance(done, e.ReasoningCompleted)
    assert (done.wasted, done.unreported) == (Usage(), Usage())


async def test_a_server_in_between_that_gives_up_may_have_passed_the_request_on() -> (
    None
):
    stage = EngineStage(refused(504, "timeout_error"), streamed(*text_reply("Hello")))

    await stage.call()

    [again] = retried(stage)
    assert again.counted == begun(stage)[0].most


@pytest.mark.parametrize("usage", [SILENT, {"input_tokens": 40, "output_tokens": 0}])
async def test_a_whole_reply_counts_for_its_most_if_the_server_does_not_say_what_it_took(
    usage: dict[str, int],
) -> None:
    events = text_reply("Hello")
    events[0] = started(usage=usage)
    for event in events:
        if event["type"] == "message_delta":
            event["usage"] = {"output_tokens": 0}
    stage = EngineStage(streamed(*events))

    done = await stage.call()

    [first] = begun(stage)
    assert isinstance(done, e.ReasoningCompleted)
    assert done.unreported.output_tokens == first.request.max_tokens
    assert bool(done.unreported.input_tokens) == (not usage["input_tokens"])


async def test_a_further_attempt_is_sent_once_it_is_stored() -> None:
    stored, asks = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        asks.set()
        await stored.wait()

    stage = EngineStage(
        refused(529, "overloaded_error"), streamed(*text_reply("Hello")), stored=wait
    )
    stage.engine.perform(command(recorded(asked())))
    await asks.wait()
    sent = len(stage.api.bodies)
    announced = len(begun(stage))
    stored.set()
    await stage.finish()

    assert (announced, sent) == (2, 1)
    assert len(stage.api.bodies) == 2


async def test_the_engine_makes_an_attempt_with_more_room_only_if_the_budget_pays_for_it() -> (
    None
):
    thinking = [
        started(usage={"input_tokens": 12, "output_tokens": 1}),
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": "Hm.", "signature": "s"},
        },
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "max_tokens"},
            "usage": {"output_tokens": 100},
        },
        {"type": "message_stop"},
    ]
    spends = [
        await _attempts(thinking, spare_usd=0.01),
        await _attempts(thinking, spare_usd=1.0),
    ]

    assert spends == [1, 2]


async def _attempts(thinking: list[dict[str, object]], spare_usd: float) -> int:
    stage = EngineStage(streamed(*thinking), streamed(*text_reply("Hello")))
    await stage.call(spare_usd=spare_usd, final=True)
    return len(stage.api.bodies)
