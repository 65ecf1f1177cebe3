"""The documented API thinks, cuts, caches and bills; and it lets in only who has its key."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from antiphon.engine.documented import DocumentedApi
from antiphon.engine.offline.double import Call
from antiphon.engine.offline.playing import message_of_script
from antiphon.vocabulary.ports import Json

SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
BETWEEN_TOOLS, ADAPTIVE = {"type": "between_tools"}, {"type": "adaptive"}
TOOL = {"name": "look_up", "input_schema": {"type": "object", "properties": {}}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
LONG = "The grain of the old harbour is counted. " * 100
"""About 1,000 tokens."""
RULES = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def body(**fields: Any) -> Json:
    return {
        "model": SONNET,
        "max_tokens": 4_000,
        "messages": [{"role": "user", "content": [text("Hello.")]}],
        "tools": [TOOL],
    } | fields


class Stage:
    """The API, and the time on its clock."""

    def __init__(self, *said: Json, thought: int = 300) -> None:
        self.now = 0.0
        self.api = DocumentedApi(
            lambda _: said or (text("Yes."),),
            thinks=lambda _: thought,
            now=lambda: self.now,
        )

    def message(self, request: Json) -> Json:
        reply = self.api.reply(call(request))
        assert reply.status == 200, reply.body
        return message_of_script(reply, request, 1)

    def usage(self, **fields: Any) -> tuple[int, int]:
        """The tokens that one more request reads from the cache, and those that it writes."""
        usage: Json = self.message(body(system=[RULES], **fields))["usage"]
        return (
            usage["cache_read_input_tokens"],
            usage["cache_creation_input_tokens"],
        )


def call(request: Json, path: str = "/v1/messages", **headers: str) -> Call:
    return Call("POST", path, headers, msgspec.json.encode(request), request)


def kinds(message: Json) -> list[str]:
    return [block["type"] for block in message["content"]]


def thinking_tokens(message: Json) -> int:
    details: Json = message["usage"]["output_tokens_details"]
    tokens: int = details["thinking_tokens"]
    return tokens


@pytest.mark.parametrize(
    ("model", "thinking", "words", "expected"),
    [
        (SONNET, BETWEEN_TOOLS, "I look. I wait. I read.", ["thinking", "tool_use"]),
        (SONNET, BETWEEN_TOOLS, "I look. I wait.", ["text", "tool_use"]),
        (SONNET, ADAPTIVE, "I look.", ["thinking", "thinking", "tool_use"]),
        (OPUS, ADAPTIVE, "I look.", ["thinking", "thinking", "tool_use"]),
        (HAIKU, ADAPTIVE, "I look.", ["thinking", "text", "tool_use"]),
    ],
)
def test_text_before_a_tool_call_may_come_as_thinking(
    model: str, thinking: Json, words: str, expected: list[str]
) -> None:
    message = Stage(text(words), CALL).message(body(model=model, thinking=thinking))

    assert kinds(message) == expected
    assert message["stop_reason"] == "tool_use"
    block: Json = message["content"][-2]
    if thinking == BETWEEN_TOOLS:
        assert block.get("thinking", block.get("text")) == words


def test_an_answer_is_cut_where_its_tokens_end() -> None:
    message = Stage(text("word " * 400), thought=3_900).message(body())

    assert message["stop_reason"] == "max_tokens"
    assert message["content"][1]["text"] == "word " * 80
    assert message["usage"]["output_tokens"] == 4_000


def test_a_refusal_has_the_form_of_the_api_and_is_not_billed() -> None:
    api = DocumentedApi()

    reply = api.reply(call(body(temperature=0.5)))

    refusal = msgspec.json.decode(reply.body or "")
    assert reply.status == 400
    assert refusal["type"] == "error"
    assert refusal["error"]["type"] == "invalid_request_error"
    assert refusal["request_id"]
    assert [refused.rule for refused in api.refused] == ["sampling"]
    assert not api.billed


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/models"])
def test_only_the_right_key_is_let_in(path: str) -> None:
    api = DocumentedApi(key="right")

    statuses = [
        api.reply(call(body(), path, **{"x-api-key": "wrong"})).status,
        api.reply(call(body(), path)).status,
        api.reply(call(body(), path, **{"x-api-key": "right"})).status,
        api.reply(call(body(), path, authorization="Bearer right")).status,
    ]

    assert statuses == [401, 401, 200, 200]


def test_the_models_are_those_of_the_table() -> None:
    listed = msgspec.json.decode(
        DocumentedApi().reply(call({}, "/v1/models")).body or ""
    )

    assert SONNET in [model["id"] for model in listed["data"]]


def test_the_bill_can_be_read_and_begun_anew() -> None:
    stage = Stage()
    stage.usage()

    deleted = stage.api.reply(call({}, "/bill")._replace(method="DELETE"))

    assert len(msgspec.json.decode(deleted.body or "")["billed"]) == 1
    assert not stage.api.billed
    assert stage.usage()[0] == 0
