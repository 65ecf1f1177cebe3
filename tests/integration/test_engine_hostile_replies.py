"""Replies that no sound server sends: the query is answered, and its trace can be read and replays."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.service import Question, replay
from antiphon.vocabulary.events import (
    ReasoningCompleted,
    ReasoningFailed,
    ToolFailed,
)
from tests.small_service import house

START = '{"type":"message_start","message":{"id":"m","type":"message","model":"x","usage":%s}}'
STOP = '{"type":"content_block_stop","index":0}'
ENDED = [
    '{"type":"message_delta","delta":{"stop_reason":"%s"}}',
    '{"type":"message_stop"}',
]
TEXT = '{"type":"text","text":"Logs grow."}'


async def search_course_content(query: str) -> str:
    """Searches.

    Args:
        query: What to look for.
    """
    return f"What is said of {query}: logs grow."


def stream(*events: str) -> dict[str, object]:
    """A scripted reply of these events, as text: some of them no JSON library would write."""
    body = "".join([f"data: {event}\n\n" for event in events])
    return {"body": body, "content_type": "text/event-stream"}


def nested(depth: int) -> str:
    return f'{{"query":{"[" * depth}{"]" * depth}}}'


def in_start(block: str) -> dict[str, object]:
    start = f'{{"type":"content_block_start","index":0,"content_block":{block}}}'
    return stream(START % "{}", start, STOP, ENDED[0] % "tool_use", ENDED[1])


def in_delta(depth: int) -> dict[str, object]:
    tool = '{"type":"tool_use","id":"t1","name":"search_course_content","input":{}}'
    start = f'{{"type":"content_block_start","index":0,"content_block":{tool}}}'
    written = nested(depth).replace('"', '\\"')
    delta = f'{{"type":"input_json_delta","partial_json":"{written}"}}'
    event = f'{{"type":"content_block_delta","index":0,"delta":{delta}}}'
    return stream(START % "{}", start, event, STOP, ENDED[0] % "tool_use", ENDED[1])


def in_call(depth: int) -> dict[str, object]:
    call = f'"id":"t1","name":"search_course_content","input":{nested(depth)}'
    return in_start(f'{{"type":"tool_use",{call}}}')


def in_message(depth: int) -> dict[str, object]:
    call = f'"id":"t1","name":"search_course_content","input":{nested(depth)}'
    message = f'"id":"m","type":"message","model":"x","content":[{{"type":"tool_use",{call}}}]'
    return {"body": f"{{{message}}}", "content_type": "application/json"}


def in_unknown_block(depth: int) -> dict[str, object]:
    return in_start(f'{{"type":"odd","x":{nested(depth)}}}')


@pytest.mark.parametrize("depth", [150, 900, 960, 3_000, 100_000])
@pytest.mark.parametrize("reply", [in_delta, in_call, in_message, in_unknown_block])
async def test_a_reply_nested_too_deep_costs_neither_the_answer_nor_the_trace(
    reply: object, depth: int, tmp_path: Path
) -> None:
    assert callable(reply)
    script = {"replies": [reply(depth), {"text": "Logs grow."}], "then": "last"}
    async with house(tmp_path, script, search_course_content) as at:
        outcome = await at.service.ask(Question(query="How do logs grow?"))
        trace = await at.trace(outcome)

        assert outcome.response is not None
        assert "ogs grow" in outcome.response.answer
        assert replay(trace).divergence is None
    failed = [
        each.event
        for each in trace
        if isinstance(each.event, ToolFailed | ReasoningFailed)
    ]
    assert "too deep" in failed[0].detail or "not a JSON object" in failed[0].detail


async def test_a_call_nested_as_deep_as_people_write_is_like_any_other(
    tmp_path: Path,
) -> None:
    script = {"replies": [in_delta(90), {"text": "Logs grow."}], "then": "last"}
    async with house(tmp_path, script, search_course_content) as at:
        outcome = await at.service.ask(Question(query="How do logs grow?"))
        trace = await at.trace(outcome)

    (failed,) = (each.event for each in trace if isinstance(each.event, ToolFailed))
    assert "wanted a valid string" in failed.detail


COUNTS = (
    '{"input_tokens":true,"output_tokens":12.5,"cache_read_input_tokens":"7",'
    '"cache_creation_input_tokens":-3}'
)


async def test_an_invalid_count_counts_for_nothing_and_the_trace_can_be_read(
    tmp_path: Path,
) -> None:
    start = f'{{"type":"content_block_start","index":0,"content_block":{TEXT}}}'
    reply = stream(START % COUNTS, start, STOP, ENDED[0] % "end_turn", ENDED[1])
    async with house(tmp_path, {"replies": [reply]}) as at:
        outcome = await at.service.ask(Question(query="How do logs grow?"))
        trace = await at.trace(outcome)

        assert replay(trace).divergence is None
    (done,) = (e.event for e in trace if isinstance(e.event, ReasoningCompleted))
    assert done.usage.all_input_tokens == 0


@pytest.mark.parametrize("index", ["true", "1.0", '"0"', "null", "[]"])
async def test_an_index_that_is_not_a_whole_number_is_malformed(
    index: str, tmp_path: Path
) -> None:
    start = f'{{"type":"content_block_start","index":{index},"content_block":{TEXT}}}'
    reply = stream(START % "{}", start, ENDED[0] % "end_turn", ENDED[1])
    async with house(tmp_path, {"replies": [reply], "then": "last"}) as at:
        outcome = await at.service.ask(Question(query="How do logs grow?"))
        trace = await at.trace(outcome)

    failed = [each.event for each in trace if isinstance(each.event, ReasoningFailed)]
    assert failed[0].failure == "malformed"


async def test_a_citation_whose_places_are_not_whole_numbers_is_dropped(
    tmp_path: Path,
) -> None:
    location = (
        '{"type":"search_result_location","search_result_index":true,"start_block_index":0,'
        '"end_block_index":1,"cited_text":"x"}'
    )
    block = f'{{"type":"text","text":"Logs grow.","citations":[{location}]}}'
    async with house(tmp_path, {"replies": [in_start(block)]}) as at:
        outcome = await at.service.ask(Question(query="How do logs grow?"))
        trace = await at.trace(outcome)

    (done,) = (e.event for e in trace if isinstance(e.event, ReasoningCompleted))
    assert done.citations == ()
