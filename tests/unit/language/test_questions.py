"""The parts that a question asks for, and what it refers back to."""

from __future__ import annotations

import time

import pytest

from antiphon.language.questions import (
    lesson_numbers,
    parts_of,
    points_back,
    refers_back,
)


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        ("What does lesson 5 say?", [5]),
        ("What is covered in lessons 2, 3 and 7?", [2, 3, 7]),
        ("See lesson two and lesson number 4.", [2, 4]),
        ("What is a lesson?", []),
    ],
)
def test_lessons_are_read_in_digits_and_words(
    question: str, numbers: list[int]
) -> None:
    assert lesson_numbers(question) == numbers


@pytest.mark.parametrize(
    "question",
    [
        "Why do retries need jitter?",
        "What is there to know about sagas?",
        "What is the pattern that undoes steps?",
        "Why does a queue block when it is full?",
        "Is there a lesson on sagas?",
        "Why queue when it is full?",
        "What is a saga?",
        # Words that only begin like one that points back.
        "HEAD is what?",
        "history of heaps",
    ],
)
def test_a_short_question_of_its_own_does_not(question: str) -> None:
    assert not refers_back(question)
    assert not points_back(question)


@pytest.mark.parametrize(
    "hostile",
    [
        "how do a and " * 2_000,
        "is a " * 4_000,
        "what do a and b and " * 2_000,
        "a and when b " * 2_000,
        "a and when differ " * 2_000,
    ],
)
def test_reading_a_hostile_question_takes_no_time(hostile: str) -> None:
    start = time.process_time()

    parts_of(hostile, ())

    assert time.process_time() - start < 0.5
