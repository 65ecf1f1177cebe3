"""The languages in which questions are asked."""

from __future__ import annotations

import pytest

from antiphon.language.tongues import ENGLISH, tongue_of


@pytest.mark.parametrize(
    "question",
    [
        "What is a de facto standard?",
        "Which values does Lucene ship with?",
        "Was Kafka first?",
        "",
    ],
)
def test_an_english_question_stays_as_it_is(question: str) -> None:
    assert tongue_of(question) == ENGLISH
    assert tongue_of(question).in_english(question) == question
