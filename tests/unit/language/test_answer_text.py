"""What of a reply's text is an answer: no thinking, no tool call; markup within code is text."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.language.answer_text import (
    DECLINED,
    EMPTY,
    ONLY_THINKING,
    TOOL_CALL,
    answer_of,
    answer_text,
)
from antiphon.vocabulary.events import RULES
from tests.unit.assembler.scenario import cites, replied

INVOKE = '<invoke name="search_course_content">\n<parameter name="query">logs</parameter>\n</invoke>'
CALLS = {
    "claude": f"<function_calls>\n{INVOKE}\n</function_calls>",
    "claude, with a namespace": "<ns:function_calls>\n<ns:invoke name='x'>",
    "an invocation alone": INVOKE,
    "hermes": '<tool_call>\n{"name": "search", "arguments": {}}\n</tool_call>',
    "qwen coder": "<tool_call>\n<function=search>\n<parameter=query>logs</parameter>",
    "qwen coder, without its first line": "<function=search>",
    "glm": "<tool_call>search\n<arg_key>query</arg_key>",
    "in python": "<tool_call>\nsearch(query='logs')\n</tool_call>",
    "deepseek": "<\uff5ctool\u2581calls\u2581begin\uff5c>",
    "deepseek 3.2": "<\uff5cDSML\uff5cfunction_calls>\n<\uff5cDSML\uff5cinvoke name='x'>",
    "kimi": "<|tool_calls_section_begin|>",
    "mistral": '[TOOL_CALLS] [{"name": "search"}]',
    "broken off": "<function_calls>",
}


@pytest.mark.parametrize("format_", CALLS)
def test_a_tool_call_written_as_text_is_no_answer(format_: str) -> None:
    for announcement in ("", "Let me search for that. ", "I'll look it up.\n\n"):
        answer = answer_text(announcement + CALLS[format_])

        assert (answer.text, answer.flaw) == ("", TOOL_CALL)


def test_what_follows_a_tool_call_rests_on_nothing_and_is_no_answer() -> None:
    answer = answer_text(f"{CALLS['hermes']}\n\nBased on the results, logs grow.")

    assert (answer.text, answer.flaw) == ("", TOOL_CALL)


def test_what_cites_something_before_a_tool_call_is_an_answer_that_breaks_off() -> None:
    text = f"Logs grow.\n\n{CALLS['claude']}"

    answer = answer_text(text, (cites(0, 10, 0, (0, 1), "Logs grow."),))

    assert (answer.text, answer.flaw) == ("Logs grow.", TOOL_CALL)


def test_a_citation_within_the_tool_call_makes_no_answer_of_its_announcement() -> None:
    text = f"Let me see. {INVOKE}"

    answer = answer_text(text, (cites(20, 30, 0, (0, 1), "Logs grow."),))

    assert answer.text == ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>\nThey want logs.\n</think>\n\nLogs grow.", "Logs grow."),
        ("<thinking>Logs?</thinking>Logs grow.", "Logs grow."),
        ("<think>a</think><think>b</think>\nLogs grow.", "Logs grow."),
        ("Logs grow.\n<thinking>Right?</thinking>\nThey do.", "Logs grow.\nThey do."),
        ("Logs grow.\n\n<thinking>Is that", "Logs grow."),
        ("They want logs.\n</think>\n\nLogs grow.", "Logs grow."),
        ("<think>a</think>\nLogs grow.\n</think>\nThey do.", "Logs grow.\nThey do."),
        ("<think>\nAn open ``` fence, `a tick.\n</think>\nLogs grow.", "Logs grow."),
    ],
)
def test_thinking_written_as_text_is_no_part_of_the_answer(
    text: str, left: str
) -> None:
    answer = answer_text(text)

    assert (answer.text, answer.flaw) == (left, "")


@pytest.mark.parametrize(
    "text", ["<think>They want", "<think>\n</think>\n", "They want logs.\n</think>"]
)
def test_thinking_alone_is_no_answer(text: str) -> None:
    answer = answer_text(text)

    assert (answer.text, answer.flaw) == ("", ONLY_THINKING)


def test_a_tool_call_behind_thinking_is_told_as_one() -> None:
    answer = answer_text(f"<think>I search.</think>\n{CALLS['hermes']}")

    assert (answer.text, answer.flaw) == ("", TOOL_CALL)


@pytest.mark.parametrize(
    "text",
    [
        f"A call looks so:\n\n```xml\n{CALLS['claude']}\n```\n\nThe model stops there.",
        "So:\n\n~~~\n<think>\nHm.\n</think>\n~~~\n\nAnd `<think>` ends with `</think>`.",
        f"Like this: ``{CALLS['kimi']}`` or `<function=search>`.",
        "1. Wrap it:\n   ```\n   <think>\n   </think>\n   ```\n2. Done.",
        f"> ```\n> {CALLS['glm']}\n> ```",
        f"The reply broke off here:\n```\n{CALLS['hermes']}",
        "`<tool_call>` starts a call:\n\n````\n```\n<invoke name='x'>\n```\n````",
    ],
)
def test_markup_within_code_is_text(text: str) -> None:
    assert answer_text(text).text == text


def test_a_sentence_may_name_a_tag_without_marking_it_as_code() -> None:
    text = (
        "The tag <think> opens a block and </think> closes it; <function_calls> holds an <invoke> for each call, and "
        "<tool_call> one call as JSON. In HTML, <div> is a block."
    )

    assert answer_text(text).text == text


def test_markup_that_stands_in_the_source_cited_for_it_is_a_quotation() -> None:
    text = 'A call begins with <invoke name="x"> there.'
    whole = (0, len(text), 0, (0, 1))

    quoted = answer_text(text, (cites(*whole, 'It begins with <invoke\nname="x">.'),))
    invented = answer_text(text, (cites(*whole, "It begins with a tag."),))

    assert (quoted.text, quoted.flaw) == (text, "")
    assert (invented.text, invented.flaw) == ("A call begins with", TOOL_CALL)


@given(
    st.lists(
        st.tuples(st.booleans(), st.text(alphabet="ab c\n", min_size=1, max_size=9)),
        max_size=6,
    )
)
def test_every_place_outside_thinking_leads_to_the_same_characters_of_the_answer(
    parts: list[tuple[bool, str]],
) -> None:
    text = ""
    spans: list[tuple[int, int]] = []
    for is_thinking, words in parts:
        if is_thinking:
            text += f"\n<think>{words}</think>"
        else:
            spans.append((len(text), len(text) + len(words)))
            text += words
    answer = answer_text(text)

    for start, end in spans:
        found = answer.text[answer.place_of(start) : answer.place_of(end)]
        assert found.strip() == text[start:end].strip()


def test_nothing_is_an_answer_in_an_empty_reply() -> None:
    assert answer_text(" \n ").flaw == EMPTY


def test_what_came_before_a_refusal_is_no_answer() -> None:
    answer = answer_of(replied("I can", stop_reason="refusal"), RULES)

    assert (answer.text, answer.flaw) == ("", DECLINED)


def test_by_the_rules_of_their_time_every_text_of_older_traces_is_an_answer() -> None:
    for text in (CALLS["claude"], "<think>They want", "I can"):
        answer = answer_of(replied(f" {text}\n", stop_reason="refusal"), 1)

        assert (answer.text, answer.flaw) == (text, "")


@pytest.mark.parametrize(
    "text",
    [
        "<" + " ".join("`" * length for length in range(1, 400)),
        "<think>a\n" * 10_000,
        "</think>a\n" * 10_000,
        "```\n<a>\n" * 10_000,
        "<a" + " `b\n\n" * 20_000,
        "<tool_call>" + " \n" * 50_000 + "x",
        "<" + "- " * 50_000,
    ],
)
def test_a_text_made_to_be_slow_to_read_is_not(text: str) -> None:
    began = time.process_time()

    answer_text(text, (cites(0, 9, 0, (0, 1), "A log."),))

    assert time.process_time() - began < 1.0
