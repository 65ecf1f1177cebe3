"""A question that leans on the one before it is understood with it."""

from __future__ import annotations

import pytest

from antiphon.language.markup import unwrap
from antiphon.language.questions import understood
from antiphon.vocabulary.values import Exchange
from tests.unit.synthesizer.stories import (
    Told,
    asked,
    found,
    opened,
    passage,
    round_of,
    shown_question,
)

BEFORE = (
    Exchange(
        question="Compare the append log with the priority queue.",
        answer="They differ.",
    ),
)


@pytest.mark.parametrize(
    "question",
    ["And the second one?", "What about it?", "Why is that so?", "how about lesson 4"],
)
def test_a_question_that_leans_is_read_with_the_one_before(question: str) -> None:
    assert understood(question, BEFORE) == f"{question}\n{BEFORE[0].question}"


@pytest.mark.parametrize(
    "question",
    [
        "What is a circuit breaker?",
        "What does lesson 3 of Search say of its inverted index statistics?",
    ],
)
def test_a_question_of_its_own_stands_alone(question: str) -> None:
    assert understood(question, BEFORE) == question
    assert understood("And the second one?", ()) == "And the second one?"


def test_what_a_follow_up_means_decides_what_is_kept_and_its_own_words_are_what_is_shown() -> (
    None
):
    queue = passage(
        "Bread is sold here. A priority queue serves the most urgent first. Bread is cheap.",
        lesson=4,
    )
    story = Told(
        asked("And the second one?", history=BEFORE, budget=200),
        *round_of(found("a", queue)),
    )

    story.tell(
        *round_of(found("b", passage("Tea is warm.")), round_=2), opened(3, final=True)
    )

    assert 1 in story.briefing.sources[0].sentences
    assert unwrap("question", shown_question(story.briefing)) == "And the second one?"
