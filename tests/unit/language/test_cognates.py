"""Words of other languages that courses in English know under the same name."""

from __future__ import annotations

import pytest

from antiphon.language.cognates import known_word
from antiphon.language.tongues import wordings
from antiphon.language.words import stem

KNOWN = {
    stem(word)
    for word in (
        "transactions",
        "specification",
        "consistency",
        "index",
        "database",
        "deadlocks",
        "kafka",
    )
}


def weigh(term: str) -> float:
    return 1.0 if term in KNOWN else 9.0


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("transacciones", "transactions"),
        ("transaktionen", "transaction"),
        ("specification", "specification"),
        ("especificacion", None),
        ("indexieren", "index"),
        ("kafka", "kafka"),
        ("gartenbau", None),
        ("dos", None),
    ],
)
def test_a_word_of_a_trade_is_known_by_its_stem(word: str, known: str | None) -> None:
    assert known_word(word, weigh) == known


def test_a_longer_question_is_asked_in_its_own_words_and_in_those_of_the_courses() -> (
    None
):
    question = "\u00bfC\u00f3mo evito que dos transacciones bloqueen la base de datos?"

    both, known = wordings(question, weigh)

    assert both == f"{question} transactions database"
    assert known == "transactions database"


def test_what_the_courses_lack_stays_in_a_short_question() -> None:
    asked = wordings("Was ist ein Kafka Frobnik?", weigh)

    assert asked == ("What is kafka frobnik?",)


def test_an_english_question_stays_as_it_is() -> None:
    question = "How do I stop two transactions from waiting?"

    assert wordings(question, weigh) == (question,)
