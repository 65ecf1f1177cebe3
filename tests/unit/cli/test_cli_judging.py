"""What the judge of answers takes for an answer, and what it does not."""

from __future__ import annotations

import pytest

from antiphon.cli.judging import admits_gap
from antiphon.cli.phrases import stands_in
from tests.unit.cli.judged import cites, outcome


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("It\u2019s 7", "it's  7"),
        ("k1 is\n1.2", "So k1 is 1.2."),
        ("the reason is this", "**The reason is this.** More."),
        ("1,024 tokens", "from 1,024 tokens, or more"),
    ],
)
def test_a_phrase_stands_where_a_reader_would_see_it(phrase: str, text: str) -> None:
    assert stands_in(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("", "anything"),
        (" \n", "anything"),
        ("**", "**anything**"),
        ("7", "17 lessons"),
        ("7", "7.5 lessons"),
        ("7", "7,000 lessons"),
        ("24 tokens", "1,024 tokens"),
        ("key", "a monkey"),
        ("1.2", "It is 1.25"),
    ],
)
def test_a_phrase_does_not_stand_inside_other_words_and_numbers(
    phrase: str, text: str
) -> None:
    assert not stands_in(phrase, text)


@pytest.mark.parametrize(
    "said",
    [
        "The courses may not answer this. The closest found: ",
        "Nothing on it was found. Lesson 2, Ranking: ",
        "Vielleicht beantworten sie das nicht. Am nächsten kommt dem:\n\n",
        "Ils n\u2019y répondent peut-être pas. Voici ce qui s\u2019en approche le plus\u00a0:\n",
        "课程可能没有回答这个问题。最接近的内容\uff1a",
    ],
)
def test_the_nearest_passages_may_be_shown_behind_a_sentence_that_says_so(
    said: str,
) -> None:
    near = outcome(
        cites(start=len(said)), answer=f"{said}k1 is 1.2", confidence="low",
        doubts=("no_evidence",),
    )  # fmt: skip

    assert admits_gap(near.response)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "Lesson 2, Not a Queue: ",
        "The closest found: ",
        "The catalogue says:\n\n",
        "Why is it not 2?\n",
    ],
)
def test_what_stands_before_a_quotation_and_denies_nothing_does_not_say_so(
    said: str,
) -> None:
    as_if = outcome(
        cites(start=len(said)), answer=f"{said}k1 is 1.2", confidence="low",
        doubts=("no_evidence",),
    )  # fmt: skip

    assert not admits_gap(as_if.response, "Tell me. Why is it not 2?")


@pytest.mark.parametrize(
    "doubt", ["tool_failed", "not_searched", "refused", "partial_evidence", "deadline"]
)
def test_an_answer_that_could_not_look_does_not_say_that_nothing_is_there(
    doubt: str,
) -> None:
    unsure = outcome(confidence="low", doubts=("no_evidence", doubt))

    assert not admits_gap(unsure.response)


@pytest.mark.parametrize("confidence", ["high", "medium"])
def test_an_answer_that_is_fairly_sure_does_not_say_that_nothing_is_there(
    confidence: str,
) -> None:
    sure = outcome(confidence=confidence, doubts=("no_evidence",))  # type: ignore[arg-type]  # parametrized

    assert not admits_gap(sure.response)
