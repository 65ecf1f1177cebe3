"""What the words of a question weigh."""

from __future__ import annotations

from antiphon.language.evidence import (
    LEAST_WEIGHT,
    names_in,
    question_shares,
    telling_words,
    unknown_share,
)

QUESTION = "Can you explain what happens when the bounded queue overflows?"


def test_the_words_that_say_what_a_question_is_about_keep_their_order() -> None:
    assert telling_words(QUESTION) == ["bounded", "queue", "overflows"]
    assert telling_words(QUESTION, weigh=len, most=2) == ["bounded", "overflows"]


def test_the_shares_of_a_question_are_one_and_a_word_in_which_it_is_put_has_less() -> (
    None
):
    shares = question_shares(QUESTION)

    assert abs(sum(shares.of_term.values()) - 1.0) < 1e-9
    assert shares.of_term["happen"] < shares.of_term["queue"]
    assert shares.share(frozenset(shares.of_term)) == 1.0
    assert shares.share(frozenset(["bread"])) == 0.0


def test_a_term_that_stands_everywhere_still_tells_a_little() -> None:
    shares = question_shares("queue bread", weigh=lambda term: float(term == "bread"))

    assert shares.of_term["queue"] == LEAST_WEIGHT / (1 + LEAST_WEIGHT)


def test_words_that_stand_nowhere_in_the_courses_are_unknown() -> None:
    def weigh(term: str) -> float:
        return 1.0 if term == "queue" else 2.0

    shares = question_shares("queue frobnicator", weigh)

    assert unknown_share(shares, [frozenset()], weigh) == 2 / 3
    assert unknown_share(shares, [frozenset(["frobnic"])], weigh) == 0.0
    assert unknown_share(shares, [frozenset()], None) == 0.0


def test_names_are_written_in_capital_letters_within_the_question() -> None:
    assert names_in("Why does Kafka differ from RabbitMQ?") == [
        {"kafka"},
        {"rabbitmq"},
    ]
