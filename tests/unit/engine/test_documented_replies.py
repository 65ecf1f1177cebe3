"""The documented API thinks, cuts, caches and bills; and it lets in only who has its key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from antiphon.engine.documented import DocumentedApi
from antiphon.engine.offline.double import Call
from antiphon.engine.offline.playing import message_of_script
from antiphon.engine.offline.script import Script, ScriptedCall, ScriptedReply
from antiphon.vocabulary.ports import Json

SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
OLD = "claude-sonnet-4-5"
BETWEEN_TOOLS, ADAPTIVE = {"type": "between_tools"}, {"type": "adaptive"}
TOOL = {"name": "look_up", "input_schema": {"type": "object", "properties": {}}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
LONG = "The grain of the old harbour is counted. " * 100
"""About 1,000 tokens."""
RULES = {"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}

PREFIX = 1_048
"""The tokens of the tool and the rules as JSON."""


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
    ("fields", "thinks"),
    [
        ({}, True),
        ({"model": HAIKU}, True),
        ({"model": HAIKU, "thinking": {"type": "disabled"}}, False),
        ({"thinking": BETWEEN_TOOLS}, False),
        ({"model": OLD}, False),
        ({"model": OLD, "thinking": {"type": "enabled", "budget_tokens": 1024}}, True),
        ({"model": "claude-opus-4-8"}, False),
        ({"model": "claude-opus-4-8", "thinking": ADAPTIVE}, True),
    ],
)
def test_a_model_thinks_first_where_it_does_by_itself_or_is_told_to(
    fields: Json, thinks: bool
) -> None:
    message = Stage().message(body(**fields))

    assert kinds(message) == (["thinking", "text"] if thinks else ["text"])
    assert thinking_tokens(message) == (300 if thinks else 0)
    assert message["usage"]["output_tokens"] == thinking_tokens(message) + 1


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ({}, False),
        ({"thinking": ADAPTIVE}, False),
        ({"thinking": ADAPTIVE | {"display": "summarized"}}, True),
        ({"model": "claude-opus-4-6", "thinking": ADAPTIVE}, True),
        ({"model": "claude-opus-4-6", "thinking": ADAPTIVE | {"display": "omitted"}}, False),
    ],
)  # fmt: skip
def test_thinking_is_shown_where_it_is_asked_for_or_the_model_is_an_older_one(
    fields: Json, shown: bool
) -> None:
    thinking: Json = Stage().message(body(**fields))["content"][0]

    assert bool(thinking["thinking"]) is shown
    assert thinking["signature"]


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


def test_thinking_that_takes_all_tokens_leaves_none_for_the_answer() -> None:
    message = Stage(thought=5_000).message(body())

    assert kinds(message) == ["thinking"]
    assert message["stop_reason"] == "max_tokens"
    assert message["usage"]["output_tokens"] == thinking_tokens(message) == 4_000


def test_an_answer_is_cut_where_its_tokens_end() -> None:
    message = Stage(text("word " * 400), thought=3_900).message(body())

    assert message["stop_reason"] == "max_tokens"
    assert message["content"][1]["text"] == "word " * 80
    assert message["usage"]["output_tokens"] == 4_000


def test_a_prefix_is_read_for_five_minutes_from_its_last_use() -> None:
    stage = Stage()

    first = stage.usage()
    stage.now = 299.0
    second = stage.usage()
    stage.now = 299.0 + 299.0
    third = stage.usage()
    stage.now += 301.0
    late = stage.usage()

    read, written = first
    assert read == 0
    assert written > 1_000
    assert second == third == (written, 0)
    assert late == first


@pytest.mark.parametrize(
    "changed",
    [
        {"output_config": {"effort": "low"}},
        {"thinking": BETWEEN_TOOLS},
        {"model": HAIKU},
        {"tools": [TOOL | {"description": "Looks up."}]},
    ],
)
def test_a_change_of_model_thinking_effort_or_tools_starts_the_cache_over(
    changed: Json,
) -> None:
    stage = Stage()

    stage.usage()

    assert stage.usage(**changed)[0] == 0


def test_a_change_of_the_tool_choice_leaves_tools_and_system_prompt_readable() -> None:
    stage = Stage()
    messages = [{"role": "user", "content": [RULES]}]

    (_, written) = stage.usage(messages=messages)
    (read, rewritten) = stage.usage(messages=messages, tool_choice={"type": "none"})

    assert 1_000 < read < written
    assert read + rewritten == written


def test_a_transcript_that_grew_is_read_up_to_its_last_mark() -> None:
    stage = Stage()
    marked = {"role": "user", "content": [RULES]}
    unmarked = {"role": "user", "content": [text(LONG)]}
    reply = {"role": "assistant", "content": [text("Yes.")]}

    (_, written) = stage.usage(messages=[marked])
    (read, further) = stage.usage(messages=[unmarked, reply, marked])

    assert read == written
    assert further > 1_000


@pytest.mark.parametrize(("model", "cached"), [(SONNET, True), ("claude-opus-4-6", False)])  # fmt: skip
def test_a_prefix_below_the_models_least_is_silently_not_cached(
    model: str, cached: bool
) -> None:
    stage = Stage()

    stage.usage(model=model)

    assert stage.usage(model=model) == ((PREFIX, 0) if cached else (0, 0))


def test_the_bill_is_that_of_the_models_prices() -> None:
    stage = Stage()
    stage.usage(model=HAIKU)

    billed = stage.api.billed[0]

    usage = billed.usage
    assert billed.model == HAIKU
    assert usage.cost_usd == pytest.approx(
        (usage.input_tokens * 0.1 + PREFIX * 0.125 + 301 * 0.5) / 1_000_000
    )


def test_a_long_prompt_costs_haiku_five_times_as_much() -> None:
    stage = Stage()
    messages = [{"role": "user", "content": [text(LONG * 100)]}]

    stage.message(body(model=HAIKU, messages=messages))

    usage = stage.api.billed[0].usage
    assert usage.input_tokens > 100_000
    assert usage.cost_usd == pytest.approx(
        5 * (usage.input_tokens * 0.1 + 301 * 0.5) / 1_000_000
    )


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


def said_by(script: Script, requests: Sequence[Json]) -> list[ScriptedReply]:
    api = DocumentedApi(script=script)
    return [api.reply(call(request)) for request in requests]


def test_a_script_is_played_with_its_thinking_and_its_bill() -> None:
    calls = (ScriptedCall(name="look_up"),)
    script = Script(
        replies=(
            ScriptedReply(calls=calls, between_s=2.0, usage={"input_tokens": 7}),
            ScriptedReply(status=529, error="overloaded_error"),
        )
    )

    first, second = said_by(script, [body(), body()])

    assert [block["type"] for block in first.content or ()] == ["thinking", "tool_use"]
    assert first.between_s == 2.0
    assert first.usage["input_tokens"] > 7
    assert second.status == 529


def test_a_script_that_is_over_may_go_on_with_two_rounds() -> None:
    search = {"name": "search_course_content", "input_schema": {"type": "object"}}

    (reply,) = said_by(Script(then="offline"), [body(tools=[search])])

    assert [block["type"] for block in reply.content or ()][-1] == "tool_use"


def test_a_stream_counts_its_thinking_in_its_last_event_alone() -> None:
    reply = Stage().api.reply(call(body(stream=True)))

    events = reply.events or []
    assert "output_tokens_details" not in events[0]["message"]["usage"]
    assert events[-2]["usage"]["output_tokens_details"] == {"thinking_tokens": 300}


def test_the_bill_can_be_read_and_begun_anew() -> None:
    stage = Stage()
    stage.usage()

    deleted = stage.api.reply(call({}, "/bill")._replace(method="DELETE"))

    assert len(msgspec.json.decode(deleted.body or "")["billed"]) == 1
    assert not stage.api.billed
    assert stage.usage()[0] == 0
