"""The request of a reasoning call."""

from __future__ import annotations

import msgspec
import pytest

from antiphon.engine import SUMMARY_PROMPT, SYSTEM_VERSION
from antiphon.engine.prompts import system_prompt
from antiphon.engine.request import build_request, request_bytes, request_json
from antiphon.vocabulary.values import Message, StoredText
from tests.fakes_messages_api import TOOLS, asked

TRANSCRIPT = (
    Message(role="user", content=(StoredText('{"type":"text","text":"q"}'),)),
    Message(
        role="assistant",
        content=(
            StoredText('{"type":"tool_use","id":"t","name":"search","input":{}}'),
        ),
    ),
    Message(
        role="user",
        content=(StoredText('{"type":"tool_result","tool_use_id":"t","content":"r"}'),),
    ),
)


def test_tools_are_offered_in_a_round_and_not_in_the_final_call() -> None:
    assert build_request(asked(), TOOLS).tools == TOOLS
    assert build_request(asked(final=True), TOOLS).tools is None


def test_a_final_call_over_tool_blocks_keeps_the_tools_and_forbids_them() -> None:
    request = build_request(asked(final=True, messages=TRANSCRIPT), TOOLS)

    assert request.tools == TOOLS
    assert request_json(request)["tool_choice"] == {"type": "none"}


def test_an_empty_list_of_tools_is_left_out() -> None:
    assert "tools" not in request_json(build_request(asked(), StoredText("[]")))


def test_the_body_holds_what_was_asked() -> None:
    body = request_json(build_request(asked(model='odd "model"'), TOOLS))

    assert (body["model"], body["max_tokens"], body["stream"]) == (
        'odd "model"',
        500,
        True,
    )
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": 'Wie geht\u2019s? "So"'}]}
    ]


def test_extra_fields_are_joined_to_the_body() -> None:
    request = msgspec.structs.replace(
        build_request(asked(), TOOLS), extra='{"temperature":0,"max_tokens":9}'
    )

    assert msgspec.json.decode(request_bytes(request)) == request_json(request)
    assert (
        request_json(request)["temperature"],
        request_json(request)["max_tokens"],
    ) == (0, 9)


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
def test_the_system_prompt_depends_on_the_rounds_alone(rounds: int) -> None:
    assert system_prompt(rounds) is system_prompt(rounds)
    assert ("No tools" in system_prompt(rounds).text) == (rounds == 0)


def test_the_system_prompt_has_not_changed_without_a_new_version() -> None:
    assert (SYSTEM_VERSION, system_prompt(2).key[:16]) == ("5", "4d6172ae2d96f026")
    assert SUMMARY_PROMPT.key[:16] == "5ea04fbe60270900"


def test_the_system_prompt_explains_every_tag_of_a_briefing() -> None:
    for tag in (
        "conversation",
        "question",
        "attempts",
        "reasoning",
        "summary",
        "open",
        "round",
    ):
        assert f"<{tag}>" in system_prompt(2).text
