"""Each rule by which the documented API refuses: a request that breaks it, and what is legal beside it."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.engine.documented import RULES, DocumentedRequest, refusals_of
from antiphon.engine.documented.request import read_request, signature_of
from antiphon.engine.models import CARDS
from antiphon.vocabulary.ports import Json

SONNET, HAIKU, OPUS = "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5"
OLDER, OLD = "claude-sonnet-4-6", "claude-sonnet-4-5"
MARK = {"cache_control": {"type": "ephemeral"}}
WORD = {"type": "string"}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "look_up", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "A flower."}


def text(words: str = "Hello.") -> Json:
    return {"type": "text", "text": words}


def user(*blocks: Json) -> Json:
    return {"role": "user", "content": list(blocks or (text(),))}


def assistant(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks or (text(),))}


def source(*, cited: bool) -> Json:
    return {
        "type": "search_result",
        "source": "S",
        "title": "T",
        "content": [text()],
        "citations": {"enabled": cited},
    }


def tool(properties: Json | None = None, **fields: Any) -> Json:
    schema = {
        "type": "object",
        "properties": {"word": WORD} if properties is None else properties,
        "required": ["word"],
        "additionalProperties": False,
    }
    return {"name": "look_up", "input_schema": schema, **fields}


def strict(word: Json) -> Json:
    return tool({"word": word}, strict=True)


def body(**fields: Any) -> Json:
    return {
        "model": SONNET,
        "max_tokens": 4_000,
        "messages": [user()],
        "tools": [tool()],
    } | fields


def effort(level: str) -> Json:
    return {"effort": level}


def conversation(model: str, signature: str | None = None) -> list[Json]:
    """A call, its thinking, and its result; the signature is the true one unless another is given."""
    if signature is None:
        asked = read_request(body(model=model))
        signature = signature_of(asked, 1)
    thinking = {"type": "thinking", "thinking": "", "signature": signature}
    return [user(), assistant(thinking, CALL), user(RESULT)]


REFUSED: list[tuple[str, str, Json]] = [
    ("thinking_mode", "thinking.type.between_tools", body(thinking={"type": "disabled"})),
    ("thinking_mode", "thinking.type.adaptive", body(thinking={"type": "enabled", "budget_tokens": 1024})),
    ("thinking_mode", "thinking.type.enabled", body(model=OLD, thinking={"type": "adaptive"})),
    ("thinking_mode", "between_tools", body(model=HAIKU, thinking={"type": "between_tools"})),
    ("thinking_fields", "display", body(thinking={"type": "between_tools", "display": "summarized"})),
    ("thinking_fields", "budget_tokens", body(thinking={"type": "between_tools", "budget_tokens": 2048})),
    ("thinking_fields", "display", body(model=HAIKU, thinking={"type": "disabled", "display": "omitted"})),
    ("thinking_budget", "1024", body(model=OLD, thinking={"type": "enabled", "budget_tokens": 1023})),
    ("thinking_budget", "1024", body(model=OLD, thinking={"type": "enabled"})),
    ("thinking_budget", "max_tokens", body(model=OLD, thinking={"type": "enabled", "budget_tokens": 4_000})),
    ("quiet_effort", "max", body(thinking={"type": "between_tools"}, output_config=effort("max"))),
    ("quiet_effort", "xhigh", body(model=HAIKU, thinking={"type": "disabled"}, output_config=effort("xhigh"))),
    ("effort", "does not support the effort parameter", body(model=OLD, output_config=effort("low"))),
    ("effort", "xhigh", body(model=OLDER, output_config=effort("xhigh"))),
    ("forced_tools", "not supported for this model", body(tool_choice={"type": "any"})),
    ("forced_tools", "not supported for this model", body(model=OPUS, tool_choice={"type": "tool", "name": "look_up"})),
    ("forced_tools", "forces tool use", body(model=HAIKU, tool_choice={"type": "any"}, thinking={"type": "adaptive"})),
    ("prefill", "prefill", body(messages=[user(), assistant()])),
    ("prefill", "prefill", body(model=OLDER, messages=[user(), assistant()])),
    ("sampling", "temperature", body(temperature=0.5)),
    ("sampling", "top_p", body(model="claude-opus-4-7", top_p=0.9)),
    ("sampling", "top_k", body(model=HAIKU, top_k=5)),
    ("output_size", "128001 > 128000", body(max_tokens=128_001)),
    ("output_size", "64001 > 64000", body(model=OLD, max_tokens=64_001)),
    ("four_marks", "Found 5", body(
        system=[text() | MARK], tools=[tool() | MARK], messages=[user(*[text() | MARK] * 3)])),
    ("four_marks", "Found 5", body(cache_control=MARK, messages=[user(*[text() | MARK] * 4)])),
    ("blank_text", "non-whitespace", body(messages=[user(text(" \n"))])),
    ("blank_text", "non-whitespace", body(messages=[user(source(cited=True) | {"content": [text("")]})])),
    ("tool_results", "toolu_1", body(messages=[user(), assistant(CALL), user()])),
    ("tool_results", "toolu_1", body(messages=[user(), assistant(), user(RESULT)])),
    ("tool_results", "come first", body(messages=[user(), assistant(CALL), user(text(), RESULT)])),
    ("citations_alike", "on none", body(messages=[user(source(cited=True), source(cited=False))])),
    ("citations_alike", "on none", body(messages=[
        user(source(cited=True)), assistant(CALL), user(RESULT | {"content": [source(cited=False)]})])),
    ("bound_thinking", "another model", body(messages=conversation(OPUS))),
    ("bound_thinking", "changed", body(messages=conversation(SONNET), system="You are another one.")),
    ("bound_thinking", "changed", body(messages=conversation(SONNET), tools=[])),
    ("bound_thinking", "changed", body(messages=[user(text("Other.")), *conversation(SONNET)[1:]])),
    ("strict_tools", "maxLength", body(tools=[strict(WORD | {"maxLength": 300})])),
    ("strict_tools", "minimum", body(tools=[strict({"anyOf": [{"type": "integer", "minimum": 1}, WORD]})])),
    ("strict_tools", "minItems", body(tools=[strict({"type": "array", "items": WORD, "minItems": 2})])),
    ("strict_tools", "additionalProperties", body(tools=[strict({"type": "object", "properties": {}})])),
    ("strict_tools", "recursive", body(tools=[strict({"$ref": "#"})])),
    ("strict_tools", "20 strict tools, found 21", body(tools=[strict(WORD)] * 21)),
    ("strict_tools", "24 optional parameters of strict tools, found 25", body(
        tools=[tool({"word": WORD} | {f"w{n}": WORD for n in range(25)}, strict=True)])),
    ("strict_tools", "16 union types in strict tools, found 17", body(
        tools=[strict({"anyOf": [WORD, {"type": "null"}]})] * 17)),
    ("input_examples", "required", body(tools=[tool(input_examples=[{}])])),
    ("input_examples", "not allowed", body(tools=[tool(input_examples=[{"word": "a", "wrod": "b"}])])),
    ("input_examples", "does not fit", body(tools=[tool(input_examples=[{"word": 3}])])),
    ("input_examples", "does not fit", body(tools=[tool({"word": {"enum": ["a"]}}, input_examples=[{"word": "b"}])])),
    ("fields", "unknown field `tempature`", body(tempature=1)),
    ("fields", "max_tokens", body(max_tokens=0)),
    ("fields", "length", body(messages=[{"role": "user", "content": []}])),
    ("fields", "missing required field `model`", {}),
    ("model", "claude-sonnet-9", body(model="claude-sonnet-9")),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "words", "request_body"), REFUSED)
def test_a_request_that_breaks_one_rule_is_refused_by_it_alone(
    rule: str, words: str, request_body: Json
) -> None:
    refusals = list(refusals_of(request_body))

    assert {refusal.rule for refusal in refusals} == {rule}
    assert words in refusals[0].message
    assert refusals[0].page.startswith("https://platform.claude.com/docs/en/")


def test_every_rule_has_a_request_that_breaks_it() -> None:
    assert {rule for rule, _, _ in REFUSED} == {*RULES, "fields", "model"}


def test_a_model_that_nobody_knows_is_not_found() -> None:
    refusal = next(refusals_of(body(model="claude-sonnet-9")))

    assert (refusal.status, refusal.kind) == (404, "not_found_error")


@pytest.mark.parametrize(
    "request_body",
    [
        *[body(model=name) for name in CARDS],
        body(thinking={"type": "between_tools"}, output_config=effort("high")),
        body(thinking={"type": "adaptive", "display": "summarized"}),
        body(model=OLD, thinking={"type": "enabled", "budget_tokens": 2048}),
        body(model=OLD, messages=[user(), assistant()]),
        body(model=OLD, temperature=0.2, tool_choice={"type": "any"}),
        body(model=HAIKU, tool_choice={"type": "any"}, thinking={"type": "disabled"}),
        body(temperature=1.0, tool_choice={"type": "none"}, stream=True, metadata={}),
        body(messages=[user(), assistant(CALL), user(RESULT, text())]),
        body(messages=conversation(SONNET)),
        body(model=OPUS, messages=conversation(OPUS)),
        body(model=OLD, messages=conversation(OLD, "of another model")),
        body(tools=[strict({"type": "array", "items": WORD, "minItems": 1})]),
        body(tools=[tool(strict=True, input_examples=[{"word": "aster"}])]),
        body(tools=[tool({"word": WORD | {"maxLength": 9}})]),
        body(system=[text() | MARK], messages=[user(*[text() | MARK] * 3)]),
    ],
)
def test_a_legal_request_is_not_refused(request_body: Json) -> None:
    assert list(refusals_of(request_body)) == []


def test_a_mark_of_the_cache_changes_nothing_that_thinking_is_bound_to() -> None:
    messages = conversation(SONNET)
    messages[0] = user(text() | MARK)

    assert list(refusals_of(body(messages=messages))) == []


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("claude-opus-4-7", (4, 7)),
        ("claude-sonnet-5", (5, 0)),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", (4, 5)),
        ("claude-fable-5-1", (5, 1)),
    ],
)
def test_a_models_version_is_read_off_its_name(
    name: str, version: tuple[int, int]
) -> None:
    asked: DocumentedRequest = read_request(body(model=name))

    assert asked.version == version
