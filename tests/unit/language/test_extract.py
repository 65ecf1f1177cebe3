"""Choosing the excerpts that answer a question, by words alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.language.extract import MOST_EXCERPTS, Excerpt, extract
from antiphon.language.runs import LONGEST_RUN_CHARS, MOST_IN_A_RUN

BREAKERS = [
    "Services fail in many ways. ",
    "A circuit breaker stops calls to a failing dependency. ",
    "It was made popular by Michael Nygard in 2007. ",
    "Bread is baked in an oven.",
]
QUEUES = [
    "A queue holds messages. ",
    "A bounded queue refuses messages when it is full. ",
    "Both have a price.",
]
FILLER = [f"Number {number} of the things said meanwhile. " for number in range(12)]


def chosen(found: Sequence[Excerpt], passages: Sequence[Sequence[str]]) -> list[str]:
    return [
        "".join(passages[each.passage][each.first : each.end]).strip() for each in found
    ]


def test_the_best_excerpt_comes_first_and_what_is_unlikely_beside_it_is_left_out() -> (
    None
):
    passages = [QUEUES, ["A queue of people waits. ", "They buy bread. "]]

    found = extract("When does a bounded queue refuse messages?", passages)

    assert chosen(found, passages) == ["".join(QUEUES[:2]).strip()]


def test_a_sentence_that_points_back_brings_the_one_before_it() -> None:
    found = extract("Who made it popular, Nygard or somebody else?", [BREAKERS])

    assert chosen(found, [BREAKERS])[0] == (
        "A circuit breaker stops calls to a failing dependency. It was made popular by Michael Nygard in 2007."
    )


@pytest.mark.parametrize(
    ("question", "plain", "telling"),
    [
        ("When were sagas described?", "Sagas were described by two authors.", "Sagas were described in 1987."),
        ("How many layers has an image?", "An image has its layers.", "An image has five layers, in general."),
        ("What is goodput?", "Watch goodput under load.", "Goodput is the rate of useful answers."),
        ("Why does the cache miss?", "The cache does miss a lot.", "The cache does miss because keys change."),
    ],
)  # fmt: skip
def test_the_kind_of_thing_that_is_asked_for_is_preferred(
    question: str, plain: str, telling: str
) -> None:
    for texts in ((plain, telling), (telling, plain)):
        passage = [f"{texts[0]} ", *FILLER, f"{texts[1]} "]

        assert telling in chosen(extract(question, [passage]), [passage])[0]


def test_nothing_is_chosen_where_nothing_is_shared() -> None:
    assert extract("What is a monad?", [BREAKERS, QUEUES]) == ()
    assert extract("", [BREAKERS]) == ()
    assert extract("What is a monad?", []) == ()


def test_two_places_that_answer_are_two_excerpts() -> None:
    answers = (
        "A bounded queue refuses messages when it is full. ",
        "Messages that a bounded queue refuses are sent again. ",
    )
    passage = [*FILLER[:5], answers[0], *FILLER[5:], answers[1]]

    found = extract("When does a bounded queue refuse messages?", [passage])

    assert len(found) == len(answers)
    assert all(
        any(answer in "".join(passage[e.first : e.end]) for e in found)
        for answer in answers
    )


def test_the_same_sentence_in_two_passages_is_taken_once() -> None:
    passages = [["The cache is warm."], ["The cache is warm."]]

    assert extract("Is the cache warm?", passages) == (Excerpt(0, 0, 1),)


def test_a_sentence_as_long_as_a_page_stands_alone() -> None:
    page = "The cache is warm, " * 100
    passage = ["It rains. ", f"{page}. ", "It snows. "]

    assert extract("Is the cache warm?", [passage]) == (Excerpt(0, 1, 2),)


def test_a_title_counts_for_what_stands_below_it() -> None:
    passages = [["The list is sorted."], ["The list is sorted here."]]

    found = extract("Is a postings list sorted?", passages, ["Bread", "Postings"])

    assert found[0].passage == 1


@given(st.text(), st.lists(st.lists(st.text(), max_size=6), max_size=6))
def test_any_text_is_survived_and_the_excerpts_are_runs_within_the_passages(
    question: str, passages: list[list[str]]
) -> None:
    found = extract(question, passages)

    assert len(found) <= MOST_EXCERPTS
    for each in found:
        assert 0 <= each.first < each.end <= len(passages[each.passage])
        assert each.end - each.first <= MOST_IN_A_RUN
        text = "".join(passages[each.passage][each.first : each.end])
        assert each.end - each.first == 1 or len(text.strip()) <= 2 * LONGEST_RUN_CHARS
    ordered = sorted(found)
    assert all(a.passage != b.passage or a.end <= b.first for a, b in pairwise(ordered))


def test_ten_passages_of_ten_sentences_take_a_few_milliseconds_of_work() -> None:
    sentence = "The {} bounded queue {} refuses the messages that a producer sends when consumer number {} is slow. "
    passages = [[sentence.format(p, s, p * s) for s in range(10)] for p in range(10)]

    def once() -> float:
        begun = time.process_time()
        extract("Why does a bounded queue refuse the messages of a producer?", passages)
        return time.process_time() - begun

    assert min(once() for _ in range(5)) < 0.010
