"""What spans say in words: blocks of the Messages API as the conventions have them, and never too large."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from antiphon.telemetry.content import (
    ATTRIBUTE_BYTES,
    TEXT_CHARS,
    content_of,
    retrieval_of,
)
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    ReasoningStarted,
    ToolFailed,
    ToolRequested,
)
from antiphon.vocabulary.values import Message, Request, StoredText, ToolCall, Usage
from tests.story import query_received, response_assembled, tool_succeeded

MOST = TEXT_CHARS[0]


def blocks(*given: object) -> tuple[StoredText, ...]:
    return tuple(StoredText(json.dumps(block)) for block in given)


def replied(*given: object) -> ReasoningCompleted:
    return ReasoningCompleted(
        call_id="c1",
        round=1,
        content=blocks(*given),
        text=StoredText(""),
        tool_calls=(),
        citations=(),
        stop_reason="end_turn",
        usage=Usage(),
        model="m",
        message_id="msg",
    )


def sent(*messages: Message, tools: str | None = None) -> ReasoningStarted:
    system = StoredText('[{"type":"text","text":"Be exact."}]')
    request = Request(
        model="m",
        max_tokens=1,
        system=system,
        messages=messages,
        tools=None if tools is None else StoredText(tools),
    )
    return ReasoningStarted(call_id="c1", attempt=1, reasoner="m", request=request)


def called(arguments: str) -> ToolRequested:
    call = ToolCall(id="t1", name="search", arguments=arguments)
    return ToolRequested(round=1, call=call, timeout_s=1.0)


def said(event: Event) -> dict[str, Any]:
    """The attributes of an event, read as JSON if they are."""
    read: dict[str, Any] = {}
    for name, text in content_of(event).items():
        try:
            read[name] = json.loads(str(text))
        except ValueError:
            read[name] = text
    return read


BLOCKS = [
    ({"type": "text", "text": "Logs grow."}, {"type": "text", "content": "Logs grow."}),
    (
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "reasoning", "content": "Hm."},
    ),
    (
        {"type": "tool_use", "id": "t1", "name": "search", "input": {"query": "logs"}},
        {
            "type": "tool_call",
            "id": "t1",
            "name": "search",
            "arguments": {"query": "logs"},
        },
    ),
    (
        {
            "type": "search_result",
            "source": "Logs - Lesson 1",
            "title": "Logs",
            "content": [{"type": "text", "text": "One. "}, {"type": "text", "text": "Two."}],
        },
        {"type": "text", "content": "[Logs - Lesson 1]\nOne. Two.\n\n"},
    ),
    ({"type": "redacted_thinking", "data": "c2VjcmV0"}, {"type": "redacted_thinking"}),
    ({"type": "text"}, {"type": "text", "content": ""}),
    ({"no": "type"}, {"type": "text", "content": "{'no': 'type'}"}),
    (["a list"], {"type": "text", "content": "['a list']"}),
]  # fmt: skip


@pytest.mark.parametrize(("block", "part"), BLOCKS)
def test_each_block_becomes_a_part_of_the_conventions(block: object, part: object) -> None:  # fmt: skip
    [message] = said(replied(block))["gen_ai.output.messages"]

    assert message == {
        "role": "assistant",
        "parts": [part],
        "finish_reason": "stop",
    }


def test_results_of_tools_are_messages_of_the_tool_beside_the_users_words() -> None:
    results = blocks(
        {"type": "tool_result", "tool_use_id": "t1", "content": "none"},
        {
            "type": "tool_result",
            "tool_use_id": "t2",
            "content": [BLOCKS[3][0], BLOCKS[0][0]],
        },
        {"type": "text", "text": "Go on."},
    )

    told = said(sent(Message(role="user", content=results)))["gen_ai.input.messages"]

    assert [(each["role"], each["parts"][0].get("id")) for each in told] == [
        ("tool", "t1"),
        ("tool", "t2"),
        ("user", None),
    ]
    assert told[1]["parts"][0]["response"] == "[Logs - Lesson 1]\nOne. Two.\n\nLogs grow."  # fmt: skip
    assert told[2]["parts"] == [{"type": "text", "content": "Go on."}]


def test_a_request_tells_its_system_prompt_and_the_tools_that_it_offers() -> None:
    tools = json.dumps(
        [{"name": "search", "description": "Finds.", "input_schema": {"type": "object"}}]
    )  # fmt: skip

    told = said(sent(tools=tools))

    assert told["gen_ai.system_instructions"] == [
        {"type": "text", "content": "Be exact."}
    ]
    assert told["gen_ai.tool.definitions"] == [
        {
            "type": "function",
            "name": "search",
            "description": "Finds.",
            "parameters": {"type": "object"},
        }
    ]
    assert "gen_ai.tool.definitions" not in said(sent())


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"query": "logs"}', '{"query": "logs"}'),
        ('{"query": "lo', '{"query": "lo'),
        ('"logs"', '"logs"'),
        ("[" * 100_000, "[" * MOST + f"… [{100_000 - MOST} more characters]"),
        ("", None),
    ],
)  # fmt: skip
def test_arguments_are_told_as_the_model_wrote_them(
    arguments: str, told: str | None
) -> None:
    assert content_of(called(arguments)).get("gen_ai.tool.call.arguments") == told


def test_a_failed_call_tells_what_the_model_is_told() -> None:
    failed = ToolFailed(
        tool_call_id="t1", name="s", failure="error", detail="It broke."
    )

    assert said(failed) == {"gen_ai.tool.call.result": "It broke."}


def test_passages_are_told_with_their_scores_and_what_was_searched_for() -> None:
    [brought] = tool_succeeded("Logs grow.").passages
    found = replace(tool_succeeded(), passages=(replace(brought, score=1.5),))

    told = retrieval_of(called('{"query": "logs"}'), found)

    [document] = json.loads(str(told["gen_ai.retrieval.documents"]))
    assert document["id"] == found.passages[0].id
    assert (document["score"], document["content"]) == (1.5, "Logs grow.")
    assert document["metadata"]["source"] == found.passages[0].source
    assert told["gen_ai.retrieval.query.text"] == "logs"


LONG = "word " * 40_000
NESTED = "{}"
for _ in range(400):
    NESTED = f'{{"a":{NESTED}}}'


@pytest.mark.parametrize(
    "event",
    [
        replace(query_received(), query=LONG),
        response_assembled(LONG),
        replied(*[{"type": "text", "text": LONG}] * 30),
        replied(*[{"type": "text", "text": "é\n\0" * 500}] * 300),
        replied({"type": "tool_use", "id": "t", "name": "s", "input": {"q": [LONG] * 99}}),
        sent(Message(role="user", content=blocks(*[BLOCKS[3][0]] * 5_000))),
        called(json.dumps({LONG: 1})),
        called(json.dumps({"a": [1] * 100_000})),
        called(NESTED),
    ],
)  # fmt: skip
def test_no_attribute_is_larger_than_the_bound_and_what_is_json_stays_it(
    event: Event,
) -> None:
    for name, text in content_of(event).items():
        assert len(str(text).encode()) <= ATTRIBUTE_BYTES
        if name.endswith("messages"):
            assert json.loads(str(text))
        if name.endswith("value"):
            assert str(text).endswith(f" [{len(LONG) - MOST} more characters]")


def test_texts_of_what_is_too_large_are_cut_evenly_before_anything_is_left_out() -> (
    None
):
    told = said(replied(*[{"type": "text", "text": LONG}] * 30))

    [message] = told["gen_ai.output.messages"]
    lengths = {len(part["content"]) for part in message["parts"]}
    assert len(message["parts"]) == 30
    assert lengths == {2_000 + len("… [198000 more characters]")}
