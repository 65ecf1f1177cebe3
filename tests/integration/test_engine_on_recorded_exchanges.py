"""Every recorded exchange with the real Messages API must be read, if the recordings are at hand."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import httpx2
import msgspec
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import MessageParam

from antiphon.engine import InProcessTransport
from antiphon.vocabulary.events import ReasoningCompleted, ReasoningFailed
from antiphon.vocabulary.ports import Json
from tests.fakes_messages_api import Answer, EngineStage, ScriptedMessagesApi

RECORDINGS = Path(__file__).parents[3] / "shared/data/claude_wire/messages_open.jsonl"

pytestmark = pytest.mark.skipif(
    not RECORDINGS.exists(), reason=f"NO RECORDED EXCHANGES at {RECORDINGS}: not tested"
)


def exchanges(kind: str) -> Iterator[Json]:
    with RECORDINGS.open() as lines:
        for line in lines:
            row = msgspec.json.decode(line)
            if row["kind"] == kind:
                yield row


def answer(row: Json) -> Answer:
    content_type = "text/event-stream" if row["kind"] == "sse" else "application/json"
    headers = {"x-should-retry": "false"}
    return Answer([row["body"].encode()], row["status"], content_type, headers)


def shape(block: Json) -> tuple[object, ...]:
    """What the fold must keep of a block."""
    # The SDK's own stream helper loses the input of this one kind.
    given = None if block["type"] == "mcp_tool_use" else block.get("input")
    return (
        block["type"], block.get("text"), block.get("id"), block.get("name"), given,
        block.get("thinking"), block.get("signature"), len(block.get("citations") or ()),
    )  # fmt: skip


async def test_every_recorded_reply_that_was_not_streamed_is_read_whole() -> None:
    count = 0
    for row in exchanges("json"):
        done = await EngineStage(answer(row)).call()

        count += 1
        if row["status"] != 200:
            assert isinstance(done, ReasoningFailed)
            assert done.failure in ("rate_limit", "not_found")
            continue
        assert isinstance(done, ReasoningCompleted), row["id"]
        body = msgspec.json.decode(row["body"])
        assert [shape(msgspec.json.decode(kept.text)) for kept in done.content] == [
            shape(b) for b in body["content"]
        ]
        assert (done.message_id, done.stop_reason) == (body["id"], body["stop_reason"])
        assert done.usage.input_tokens == body["usage"]["input_tokens"]
    assert count > 300


async def test_every_recorded_stream_folds_to_what_the_sdk_makes_of_it() -> None:
    count = 0
    for row in exchanges("sse"):
        stage = EngineStage(answer(row))
        done = await stage.call()
        complete = "message_stop" in row["body"] and "message_start" in row["body"]

        count += 1
        assert isinstance(done, ReasoningCompleted) == complete, row["id"]
        if (
            isinstance(done, ReasoningCompleted)
            and row["body"].count("message_start") == 2
        ):
            expected = await by_the_sdk(row)
            told = [shape(msgspec.json.decode(kept.text)) for kept in done.content]
            assert told == [shape(block) for block in expected["content"]], row["id"]
            assert done.usage.output_tokens == expected["usage"]["output_tokens"]
            assert (
                "".join(live.text for live in stage.told if hasattr(live, "text"))
                == done.text.text
            )
    assert count == 80


async def by_the_sdk(row: Json) -> Json:
    api = ScriptedMessagesApi(answer(row))
    http = httpx2.AsyncClient(transport=InProcessTransport(api))
    client = AsyncAnthropic(
        api_key="k", base_url="http://api.test", max_retries=0, http_client=http
    )
    message: MessageParam = {"role": "user", "content": "x"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        async with client.messages.stream(
            model="m", max_tokens=1, messages=[message]
        ) as stream:
            return (await stream.get_final_message()).model_dump(warnings=False)
