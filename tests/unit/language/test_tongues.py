"""The languages in which questions are asked."""

from __future__ import annotations

import pytest

from antiphon.language.tongues import ENGLISH, tongue_of


@pytest.mark.parametrize(
    "question",
    [
        "Wer unterrichtet den Kurs Git?",
        "Qui enseigne le cours Git ?",
        "\u00bfQui\u00e9n ense\u00f1a el curso Git?",
        "Chi insegna il corso Git?",
        "Quem ensina o curso Git?",
        "Wie geeft de cursus Git?",
    ],
)
def test_what_other_languages_ask_of_a_catalogue_is_read_in_english(
    question: str,
) -> None:
    tongue = tongue_of(question)

    assert tongue != ENGLISH
    assert tongue.in_english(question).strip("\u00bf ?") == "who teaches the course Git"


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
