"""What is asked for, and an excerpt that is only a little like the question does not hold."""

from __future__ import annotations

import pytest

from antiphon.language.shortfall import LIKE, falls_short
from antiphon.language.words import stem

NETFLIX = (
    "Netflix released Hystrix in 2012. Over sixty services used it. People liked it."
)


@pytest.mark.parametrize(
    ("question", "likeness", "short"),
    [
        ("Which prize did Netflix win?", 0.4, True),
        ("Which prize did Netflix win?", LIKE, False),
        ("Which library did Netflix release?", 0.4, False),
        ("What is Netflix?", 0.4, False),
        (
            "Which prize did Netflix win for engineering, design and research long ago?",
            0.4,
            False,
        ),
    ],
)
def test_what_is_asked_beside_a_name_must_stand_in_what_is_shown(
    question: str, likeness: float, short: bool
) -> None:
    assert falls_short(question, [NETFLIX], likeness) == short


@pytest.mark.parametrize(("missing", "short"), [("prize", True), ("other", False)])
def test_a_word_that_no_course_has_is_missed_however_like_the_excerpt_is(
    missing: str, short: bool
) -> None:
    def weigh(term: str) -> float:
        return 2.0 if term in map(stem, known) else 6.0

    known = {"prize", "netflix", "win"} - {missing}

    question = "Which prize did Netflix win?"
    assert falls_short(question, [NETFLIX], 0.7, weigh) == short


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many people work at Netflix?", True),
        ("How many services used Hystrix?", False),
        ("How many engineers did Netflix have?", True),
    ],
)
def test_how_many_wants_a_sentence_that_counts_them(question: str, short: bool) -> None:
    assert falls_short(question, [NETFLIX], 0.4) == short
    assert not falls_short(question, [NETFLIX, "Ten people and engineers."], 0.4)


@pytest.mark.parametrize(
    "question",
    [
        "What did the espresso machine cost?",
        "How much did they pay for Hystrix?",
        "what's the price of one licence",
        "which salary does the receptionist get?",
        "How expensive is it?",
    ],
)
def test_who_asks_for_money_wants_an_amount(question: str) -> None:
    assert falls_short(question, [NETFLIX], 0.8)
    for amount in ("It is 3 dollars.", "That's free.", "It costs 1,200 tokens."):
        assert not falls_short(question, [NETFLIX, amount], 0.8)


def test_who_asks_for_a_year_wants_one() -> None:
    question = "In what year was it released?"
    assert falls_short(question, ["It was released by Netflix."], 0.8)
    assert not falls_short(question, [NETFLIX], 0.8)


@pytest.mark.parametrize(
    "question",
    [
        "Which company develops the tool?",
        "From which vendor is the recogniser?",
        "Which company's model is used?",
        "Who makes it?",
    ],
)
def test_who_asks_for_a_maker_wants_one(question: str) -> None:
    shown = "We use a tool. It is open source."
    assert falls_short(question, [shown], 0.8)
    for maker in (
        "It is made by Netflix.",
        "They are a small firm in Porto.",
        "It was begun at Ericsson.",
    ):
        assert not falls_short(question, [shown, maker], 0.8)


@pytest.mark.parametrize(
    "question",
    [
        "What happens when a customer pays twice?",
        "Which supplier names are compared?",
        "How are the costs of a call kept low?",
        "How much storage would a million vectors cost us?",
        "Who makes sure that the tests run?",
    ],
)
def test_what_is_only_about_money_or_makers_wants_neither(question: str) -> None:
    assert not falls_short(question, [NETFLIX], 0.8)


@pytest.mark.parametrize(
    ("question", "held"),
    [
        ("In which programming language is Hystrix written?", "It is written in Java."),
        ("What language do they speak?", "They speak Finnish."),
        ("Which licence does it have?", "It is under Apache 2.0."),
        ("Until what time is the library open?", "It closes at 6 pm."),
        ("On which port does it listen?", "It listens on port 8080."),
        ("How many years was she a teacher?", "She taught for nine years."),
    ],
)
def test_who_asks_for_a_thing_of_some_kind_wants_one_of_that_kind(
    question: str, held: str
) -> None:
    shown = "We use a tool that many people like."

    assert falls_short(question, [shown], 0.8)
    assert not falls_short(question, [shown, held], 0.8)
