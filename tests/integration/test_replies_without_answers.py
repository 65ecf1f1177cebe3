"""Replies that hold a text and no answer, on the real wiring: what the caller gets in its place."""

from __future__ import annotations

import pytest

from antiphon.composition import Outcome
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Indicator
from tests.whole_query import House, ScriptedModel, reply

SEARCH = ("search_course_content", {"query": "logs that only grow"})
LOOKED_UP = reply("", SEARCH)
FOUND = "This lesson speaks of logs that only grow."
CALL = 'Let me search for that.\n\n<function_calls>\n<invoke name="search">\n</invoke>\n</function_calls>'
TAKEN_FROM = "The answer uses only what had been found by then: "
CUT_SHORT = (
    "This is what was found; it may not be the whole answer, because it was cut short: "
)


async def ask(*replies: list[Json]) -> Outcome:
    return await House(ScriptedModel(*replies)).ask("What are logs?")


def cited(text: str) -> list[Json]:
    """The stream events of a reply whose whole text cites the first sentence of the first source."""
    events = reply(text)
    citation = {
        "type": "search_result_location", "search_result_index": 0, "start_block_index": 0, "end_block_index": 1,
        "cited_text": FOUND, "source": "s", "title": None,
    }  # fmt: skip
    delta = {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "citations_delta", "citation": citation},
    }
    return [*events[:2], delta, *events[2:]]


def told(outcome: Outcome) -> list[tuple[str, str]]:
    doubts: tuple[Indicator, ...] = outcome.response.indicators
    return [(doubt.kind, doubt.detail) for doubt in doubts]


async def test_after_a_refusal_the_caller_gets_what_was_found_and_the_cause() -> None:
    outcome = await ask(LOOKED_UP, reply("I can", stop_reason="refusal"))

    assert (outcome.status, outcome.response.confidence) == ("partial", "low")
    assert outcome.response.answer == (
        f"{FOUND} It says no more.\n\n{CUT_SHORT}the model declined to answer."
    )
    assert outcome.response.citations
    assert told(outcome) == [
        ("refused", "The model declined to answer."),
        ("partial_evidence", f"{TAKEN_FROM}the model declined to answer."),
    ]  # fmt: skip


async def test_after_a_refusal_at_once_the_caller_gets_a_plain_sentence_without_its_beginning() -> (
    None
):
    outcome = await ask(reply("I can", stop_reason="refusal"))

    assert (outcome.status, outcome.response.confidence) == ("answered", "low")
    assert outcome.response.answer == (
        "This question could not be answered: the model declined to answer. Nothing could be looked up."
    )
    assert [kind for kind, _ in told(outcome)] == ["refused", "no_evidence"]


async def test_what_was_found_replaces_a_tool_call_written_as_text_in_the_final_call() -> (
    None
):
    why = "the model wrote a tool call in place of an answer"

    outcome = await ask(LOOKED_UP, reply(CALL))

    assert (outcome.status, outcome.response.confidence) == ("partial", "low")
    assert outcome.response.answer == f"{FOUND} It says no more.\n\n{CUT_SHORT}{why}."
    assert outcome.response.citations
    assert told(outcome) == [
        ("reasoning_retried", f"A call to the model failed: {why}."),
        ("partial_evidence", f"{TAKEN_FROM}{why}."),
    ]  # fmt: skip


async def test_a_tool_call_written_as_text_in_a_round_of_tools_is_followed_by_the_final_call() -> (
    None
):
    outcome = await ask(LOOKED_UP, reply(CALL), cited(FOUND))

    assert (outcome.status, outcome.response.confidence) == ("answered", "high")
    assert outcome.response.answer == FOUND
    assert told(outcome) == [
        ("reasoning_retried", "A call to the model failed: the model wrote a tool call in place of an answer."),
    ]  # fmt: skip


async def test_thinking_written_as_text_is_left_out_and_the_citation_stays() -> None:
    outcome = await ask(
        LOOKED_UP, cited(f"<think>\nThey want logs.\n</think>\n\n{FOUND}")
    )

    assert (outcome.status, outcome.response.confidence) == ("answered", "high")
    assert outcome.response.answer == FOUND
    (citation,) = outcome.response.citations
    assert (citation.start, citation.end) == (0, len(FOUND))
    assert told(outcome) == []


async def test_what_was_found_replaces_thinking_that_never_ends() -> None:
    why = "the model wrote down its thinking and no answer"

    outcome = await ask(LOOKED_UP, reply("<think>\nThey want logs."))

    assert (outcome.status, outcome.response.confidence) == ("partial", "low")
    assert outcome.response.answer.endswith(f"{CUT_SHORT}{why}.")
    assert ("reasoning_retried", f"A call to the model failed: {why}.") in told(outcome)


@pytest.mark.parametrize(
    "text",
    [
        f"A call is written so:\n\n```xml\n{CALL}\n```",
        "Models think between `<think>` and `</think>`.",
    ],
)
async def test_an_answer_that_shows_such_markup_as_code_reaches_the_caller_whole(
    text: str,
) -> None:
    outcome = await ask(LOOKED_UP, reply(text))

    assert outcome.status == "answered"
    assert outcome.response.answer == text
