"""The offline reasoner through the real SDK, the in-process transport and the engine."""

from __future__ import annotations

import httpx2
import msgspec
import pytest
from anthropic import AsyncAnthropic, BadRequestError, NotFoundError

from antiphon.engine import (
    InProcessTransport,
    OfflineMessagesApi,
    ReasoningEngine,
    offline_model,
)
from antiphon.vocabulary.events import (
    LOOSE_FIT,
    ReasoningCompleted,
    ReasoningStarted,
    ToolCallStreamed,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, StoredText
from tests.fakes import command
from tests.fakes_messages_api import EngineStage, asked, recorded
from tests.unit.engine.briefings import SEARCH, attempt, briefing, source

SENTENCES = (
    "A queue holds messages. ",
    "A bounded queue refuses messages when it is full.",
)


def messages(request: Json) -> tuple[Message, ...]:
    blocks = request["messages"][0]["content"]
    return (
        Message(
            role="user",
            content=tuple(
                StoredText(msgspec.json.encode(block).decode()) for block in blocks
            ),
        ),
    )


class OfflineStage(EngineStage):
    """The engine with the offline reasoner behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.engine = ReasoningEngine(
            publish=self.published.append,
            emit_live=self.told.append,
            spawn=self._spawn,
            clock=self.clock,
            models={"primary": offline_model(), "fallback": offline_model()},
            tools=StoredText(msgspec.json.encode([SEARCH]).decode()),
        )


async def test_a_question_becomes_a_tool_call_and_then_a_cited_answer() -> None:
    question = "When does a bounded queue refuse messages?"
    stage = OfflineStage()

    first = await stage.call(messages=messages(briefing(question)))
    found = briefing(
        question,
        source("C - Lesson 1", *SENTENCES),
        attempts=(attempt(query=question, facts=(1,)),),
    )
    second = await stage.call(call_id="c2", final=True, messages=messages(found))

    assert isinstance(stage.published[0], ReasoningStarted)
    assert stage.published[0].reasoner == "offline"
    assert isinstance(stage.published[1], ToolCallStreamed)
    assert isinstance(first, ReasoningCompleted)
    assert msgspec.json.decode(first.tool_calls[0].arguments)["query"] == question
    assert first.stop_reason == "tool_use"
    assert isinstance(second, ReasoningCompleted)
    # Matching words alone prove nothing, so the fit stays loose.
    assert (second.stop_reason, second.model, second.tool_calls) == (
        LOOSE_FIT,
        "offline",
        (),
    )
    # The sentence that answers the question is marked, and cited by itself.
    shown = [
        second.text.text[citation.start : citation.end] for citation in second.citations
    ]
    assert shown == [SENTENCES[0].strip(), f"**{SENTENCES[1]}**"]
    for citation in second.citations:
        assert citation.cited_text == "".join(
            SENTENCES[citation.first_block : citation.end_block]
        )
    assert second.usage.input_tokens > second.usage.output_tokens > 0


async def test_ids_of_tool_calls_differ_from_request_to_request() -> None:
    stage = OfflineStage()

    first = await stage.call(messages=messages(briefing("What is a queue?")))
    second = await stage.call(messages=messages(briefing("What is a saga?")))

    assert isinstance(first, ReasoningCompleted)
    assert isinstance(second, ReasoningCompleted)
    assert first.tool_calls[0].id != second.tool_calls[0].id


def client() -> AsyncAnthropic:
    http = httpx2.AsyncClient(transport=InProcessTransport(OfflineMessagesApi()))
    return AsyncAnthropic(
        api_key="k", base_url="http://offline.test", max_retries=0, http_client=http
    )


async def test_a_plain_sdk_client_reads_the_same_reply_streamed_and_not() -> None:
    request = briefing(
        "When does a bounded queue refuse messages?",
        source("C - Lesson 1", *SENTENCES),
        tools=(),
    )

    whole = await client().messages.create(**request)
    async with client().messages.stream(**request) as stream:
        streamed = await stream.get_final_message()

    assert whole.content[0].type == "text"
    assert whole.model_dump(include={"content"}) == streamed.model_dump(
        include={"content"}
    )
    assert (whole.stop_reason, whole.usage.output_tokens) == (
        LOOSE_FIT,
        streamed.usage.output_tokens,
    )


async def test_hostile_messages_get_a_400_in_the_apis_shape() -> None:
    request: Json = {
        "model": "m",
        "max_tokens": 5,
        "messages": [{"role": "x", "content": "y"}],
    }

    with pytest.raises(BadRequestError, match=r"messages\.0\.role") as failure:
        await client().messages.create(**request)

    assert failure.value.type == "invalid_request_error"


async def test_other_paths_are_not_found() -> None:
    with pytest.raises(NotFoundError):
        await client().models.list()


async def test_one_call_is_all_that_a_recorded_request_needs() -> None:
    stage = OfflineStage()
    request = asked(messages=messages(briefing("What is a queue?")))
    stage.engine.perform(command(recorded(request)))

    await stage.finish()

    assert [type(event) for event in stage.published] == [
        ReasoningStarted,
        ToolCallStreamed,
        ReasoningCompleted,
    ]
