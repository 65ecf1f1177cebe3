"""What people give as their reason is no part of what they ask."""

from __future__ import annotations

import time

import pytest

from antiphon.language.asides import without_reasons


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        (
            "Which courses are there, so that I can pass the list on?",
            "Which courses are there?",
        ),
        (
            "Who teaches it, since two of my colleagues want to write to her?",
            "Who teaches it?",
        ),
        (
            "For my quarterly report I should like to know who teaches it.",
            "I should like to know who teaches it.",
        ),
        ("As I am in a hurry, how many lessons has it?", "how many lessons has it?"),
        ("Can you sum lesson 2 up? I was ill that day.", "Can you sum lesson 2 up?"),
        (
            "How many lessons has it, the introduction included?",
            "How many lessons has it?",
        ),
    ],
)
def test_what_only_gives_a_reason_is_left_out(said: str, asked: str) -> None:
    assert without_reasons(said) == asked


@pytest.mark.parametrize(
    "question",
    [
        "Why is a queue slow, since it is bounded?",
        "What happens as the queue fills?",
        "How many lessons has the cancer course? I mean radiation therapy",
        "I missed lesson 2.",
    ],
)
def test_what_says_more_than_a_reason_stays(question: str) -> None:
    assert without_reasons(question) == question


def test_hostile_text_is_read_in_no_time() -> None:
    started = time.perf_counter()

    without_reasons(", since my" * 100_000)
    without_reasons("as i " * 100_000)

    assert time.perf_counter() - started < 1.0
