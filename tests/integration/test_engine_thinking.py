"""Replies that think: what is recorded of it, and what becomes of one that thinks until its tokens are used up."""

from __future__ import annotations

import json

from antiphon.vocabulary import events as e
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Usage
from tests.fakes_messages_api import (
    EngineStage,
    block_started,
    block_stopped,
    delta,
    ended,
    started,
    streamed,
    text_reply,
)


def thought(words: str, *rest: Json, **usage: object) -> list[Json]:
    """A reply that begins with a block of thinking."""
    return [
        started(),
        block_started(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking=words),
        delta(0, "signature_delta", signature="s"),
        block_stopped(0),
        *rest,
    ]


def thought_alone(words: str = "Hm.") -> list[Json]:
    """A reply whose tokens were used up in thinking."""
    return thought(
        words,
        *ended(
            "max_tokens",
            output_tokens=4_500,
            output_tokens_details={"thinking_tokens": 4_500},
        ),
    )


def attempts(stage: EngineStage) -> list[e.ReasoningStarted]:
    return [event for event in stage.published if isinstance(event, e.ReasoningStarted)]


async def test_the_engine_asks_once_more_with_more_room_after_a_reply_that_only_thought() -> (
    None
):
    stage = EngineStage(streamed(*thought_alone()), streamed(*text_reply("Yes.")))

    done = await stage.call(final=True)

    assert isinstance(done, e.ReasoningCompleted)
    assert done.text.text == "Yes."
    first, second = attempts(stage)
    assert first.request.max_tokens == 500 + 4_000
    assert second.request.max_tokens == 500 + 16_000
    [retried] = [
        event for event in stage.published if isinstance(event, e.ReasoningRetried)
    ]
    assert retried.why == "out_of_tokens"
    assert "4,500 tokens in thinking" in retried.detail
    # What the first attempt used is paid for, so the event reports it.
    assert done.wasted.output_tokens == 4_500
    assert done.wasted.thinking_tokens == 4_500
    assert done.wasted.cost_usd is not None


async def test_a_reply_that_only_ever_thinks_fails_and_names_the_cause() -> None:
    stage = EngineStage(streamed(*thought_alone()))

    failed = await stage.call(final=True)

    assert isinstance(failed, e.ReasoningFailed)
    assert failed.failure == "out_of_tokens"
    assert "ANTIPHON_MAX_TOKENS" in failed.detail
    assert len(stage.api.bodies) == 2
    assert failed.usage.output_tokens == 9_000


async def test_the_engine_makes_no_other_attempt_that_the_budget_does_not_pay_for() -> (
    None
):
    stage = EngineStage(streamed(*thought_alone()), streamed(*text_reply("Yes.")))

    failed = await stage.call(final=True, spare_tokens=100)

    assert isinstance(failed, e.ReasoningFailed)
    assert len(stage.api.bodies) == 1


async def test_a_few_words_after_much_thinking_are_not_an_answer_either() -> None:
    cut_off = thought(
        "Hm.",
        block_started(1, type="text", text=""),
        delta(1, "text_delta", text="An index"),
        block_stopped(1),
        *ended("max_tokens", output_tokens=4_500),
    )
    stage = EngineStage(streamed(*cut_off), streamed(*text_reply("An index is a map.")))

    done = await stage.call(final=True)

    assert isinstance(done, e.ReasoningCompleted)
    assert done.text.text == "An index is a map."
    # Those who followed saw the first words: they are taken back before others come.
    kinds = [type(told).__name__ for told in stage.told]
    assert kinds == ["TextDelta", "TextDiscarded", "TextDelta"]


async def test_a_long_answer_that_was_cut_off_is_kept() -> None:
    cut_off = thought(
        "Hm.",
        block_started(1, type="text", text=""),
        delta(1, "text_delta", text="An index is a map. " * 60),
        block_stopped(1),
        *ended("max_tokens", output_tokens=4_500),
    )
    stage = EngineStage(streamed(*cut_off))

    done = await stage.call(final=True)

    assert isinstance(done, e.ReasoningCompleted)
    assert done.stop_reason == "max_tokens"


async def test_what_a_reply_thought_is_in_the_trace_with_its_time_and_tokens() -> None:
    reply = thought(
        "The first passage says it.",
        block_started(1, type="text", text=""),
        delta(1, "text_delta", text="Yes."),
        block_stopped(1),
        *ended(output_tokens=60, output_tokens_details={"thinking_tokens": 40}),
    )
    stage = EngineStage(streamed(*reply))

    done = await stage.call(final=True)

    assert isinstance(done, e.ReasoningCompleted)
    assert done.thought == "The first passage says it."
    assert done.text.text == "Yes."
    assert done.usage.thinking_tokens == 40
    assert done.thought_s >= 0.0


async def test_a_reply_that_ends_as_openai_ends_them_is_whole() -> None:
    *reply, _ = text_reply("Yes.")
    answer = streamed(*reply)
    answer.pieces = [*answer.pieces, b"data: [DONE]\n\n"]
    stage = EngineStage(answer)

    done = await stage.call()

    assert isinstance(done, e.ReasoningCompleted)
    assert done.text.text == "Yes."


async def test_content_that_is_a_plain_text_is_the_answer() -> None:
    message = {
        "type": "message",
        "id": "msg_1",
        "model": "m",
        "content": "Yes.",
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    answer = streamed()
    answer.pieces = [json.dumps(message).encode()]
    answer.headers["content-type"] = "application/json"
    stage = EngineStage(answer)

    done = await stage.call()

    assert isinstance(done, e.ReasoningCompleted)
    assert done.text.text == "Yes."
    assert done.usage == Usage(input_tokens=3, output_tokens=2)


async def test_a_tool_call_without_an_id_gets_one() -> None:
    reply = [
        started(),
        block_started(0, type="tool_use", id="", name="search", input={}),
        block_stopped(0),
        block_started(1, type="tool_use", name="search", input={"query": "a"}),
        block_stopped(1),
        *ended("tool_use"),
    ]
    stage = EngineStage(streamed(*reply))

    done = await stage.call()

    assert isinstance(done, e.ReasoningCompleted)
    assert [call.id for call in done.tool_calls] == ["toolu", "toolu-2"]
