"""The parts that a question asks for, and what it refers back to."""

from __future__ import annotations

import time

import pytest

from antiphon.language.questions import (
    compared_sides,
    lesson_numbers,
    parts_of,
    points_back,
    refers_back,
)


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        (
            "Compare delivery guarantees with ordering guarantees.",
            ("delivery guarantees", "ordering guarantees"),
        ),
        (
            "What is the difference between retries and timeouts?",
            ("retries", "timeouts"),
        ),
        ("How does a queue differ from a log?", ("a queue", "a log")),
        ("How is a queue different from a log?", ("a queue", "a log")),
        ("How do queues and logs differ?", ("queues", "logs")),
        ("Queues versus logs", ("Queues", "logs")),
        ("Is a queue the same thing as a log?", ("a queue", "a log")),
        ("What are the similarities between queues and logs?", ("queues", "logs")),
        ("What do queues and logs have in common?", ("queues", "logs")),
        (
            "When do I want queues and when logs? What is the difference?",
            ("queues", "logs"),
        ),
    ],
)
def test_the_sides_of_a_comparison_are_its_parts(
    question: str, sides: tuple[str, str]
) -> None:
    parts = [part.text for part in parts_of(question, ())]

    assert compared_sides(question) == sides
    assert parts == list(sides)


def test_two_questions_in_one_are_a_comparison_only_where_they_are_compared() -> None:
    assert compared_sides("When do I want queues and when logs?") is None
    assert parts_of("When do I want queues and when logs?", ())[0].kind == "question"


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
        "And the retrieval one?",
        "Who teaches it?",
        "Does it cover retries?",
        "Who teaches that course?",
        "What about embeddings?",
        "Why is that so?",
    ],
)
def test_what_leans_on_the_question_before_refers_back(question: str) -> None:
    assert refers_back(question)


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


@pytest.mark.parametrize("question", ["And the second one?", "Why?", "ok, which ones?"])
def test_a_question_with_nothing_of_its_own_refers_back(question: str) -> None:
    assert refers_back(question)


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
