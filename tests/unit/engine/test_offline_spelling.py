"""Misspelt words of a question, read as the passages found write them."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.spelling import corrected
from antiphon.engine.offline.task import Source

SOURCES = (Source(0, "Mail - Lesson 1", "Queues", ("Backpressure slows senders.",)),)
KNOWN = ("what", "slow", "sender", "mean")


def weigh(term: str) -> float:
    return 1.0 if term in KNOWN else 9.0


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("What is backpresure?", "What is backpressure?"),
        ("What slows sendrs?", "What slows senders?"),
        ("What is Backpressure?", "What is Backpressure?"),
        ("What is a monad?", "What is a monad?"),
        ("What is slwo?", "What is slwo?"),
    ],
)
def test_a_long_word_that_stands_nowhere_is_read_as_the_one_it_is_alike(
    question: str, read: str
) -> None:
    assert corrected(question, SOURCES, weigh) == read


def test_without_the_words_of_the_courses_nothing_is_corrected() -> None:
    assert corrected("What is backpresure?", SOURCES, None) == "What is backpresure?"
    assert corrected("What is backpresure?", (), weigh) == "What is backpresure?"
