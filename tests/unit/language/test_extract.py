"""Choosing the sentences that answer a question."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from antiphon.language.evidence import question_shares, telling_words
from antiphon.language.extract import Extraction, extract

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


def chosen(found: Extraction, passages: list[list[str]]) -> list[str]:
    return [
        "".join(passages[pick.passage][pick.first : pick.end]).strip()
        for pick in found.picks
    ]


def test_the_sentence_that_holds_most_of_the_question_comes_first() -> None:
    passages = [BREAKERS, QUEUES]

    found = extract("When does a bounded queue refuse messages?", passages, limit=1)

    assert chosen(found, passages) == [
        "A bounded queue refuses messages when it is full."
    ]
    assert found.evidence > 0.9


def test_a_sentence_that_points_back_brings_the_one_before_it() -> None:
    found = extract(
        "Who made it popular, Nygard or somebody else?", [BREAKERS], limit=1
    )

    assert chosen(found, [BREAKERS]) == [
        "A circuit breaker stops calls to a failing dependency. It was made popular by Michael Nygard in 2007."
    ]


def test_a_year_is_preferred_where_a_time_is_asked_for() -> None:
    passages = [["Sagas undo finished steps. ", "Sagas were introduced in 1987."]]

    assert chosen(extract("When were sagas described?", passages, limit=1), passages)[
        0
    ].endswith("1987.")


def test_sentences_are_in_the_order_of_their_text_with_small_gaps_filled() -> None:
    text = [
        "Alpha begins the process. ",
        "Then something small happens. ",
        "Omega ends the process.",
    ]

    found = extract("How do alpha and omega shape the process?", [text])

    assert chosen(found, [text]) == ["".join(text)]


def test_the_same_sentence_in_two_passages_is_taken_once() -> None:
    passages = [["The cache is warm."], ["The cache is warm."]]

    assert len(extract("Is the cache warm?", passages).picks) == 1


def test_evidence_is_weak_where_the_telling_words_are_missing() -> None:
    def weigh(term: str) -> float:
        return 6.0 if term in ("kubernet", "paxo") else 1.0

    assert (
        extract(
            "How do I run Paxos on Kubernetes with a queue?", [QUEUES], weigh
        ).evidence
        < 0.2
    )
    assert extract("How does a queue refuse messages?", [QUEUES], weigh).evidence > 0.8


def test_a_name_that_no_passage_holds_weakens_the_evidence() -> None:
    known = extract("Which messages does a bounded queue refuse?", [QUEUES]).evidence
    foreign = extract(
        "Which messages does a bounded queue of RabbitMQ refuse?", [QUEUES]
    ).evidence

    assert foreign < known / 2


def test_titles_count_as_evidence_for_what_stands_below_them() -> None:
    passages = [["The list is sorted."]]

    plain = extract("Is a postings list sorted?", passages).evidence

    assert (
        extract("Is a postings list sorted?", passages, titles=["Postings"]).evidence
        > plain
    )


def test_nothing_is_chosen_where_nothing_is_shared() -> None:
    assert extract("What is a monad?", [BREAKERS, QUEUES]) == Extraction((), 0.0)
    assert extract("", [BREAKERS]) == Extraction((), 0.0)
    assert extract("What is a monad?", []) == Extraction((), 0.0)


@given(
    st.text(), st.lists(st.lists(st.text(), max_size=6), max_size=6), st.integers(1, 5)
)
def test_any_text_is_survived_and_the_picks_lie_within_the_passages(
    question: str, passages: list[list[str]], limit: int
) -> None:
    found = extract(question, passages, limit=limit)

    assert 0.0 <= found.evidence <= 1.0
    assert all(
        0 <= pick.first < pick.end <= len(passages[pick.passage])
        for pick in found.picks
    )


def test_the_words_that_say_what_a_question_is_about_keep_their_order() -> None:
    question = "Can you explain what happens when the bounded queue overflows?"

    assert telling_words(question) == ["bounded", "queue", "overflows"]
    assert telling_words(question, weigh=len, most=2) == ["bounded", "overflows"]
    assert abs(sum(question_shares(question).of_term.values()) - 1.0) < 1e-9


def test_ten_passages_of_ten_sentences_take_a_few_milliseconds_of_work() -> None:
    sentence = "The {} bounded queue {} refuses the messages that a producer sends when consumer number {} is slow. "
    passages = [[sentence.format(p, s, p * s) for s in range(10)] for p in range(10)]

    def once() -> float:
        begun = time.process_time()
        extract(
            "Why does a bounded queue refuse the messages of a slow producer, and what then?",
            passages,
        )
        return time.process_time() - begun

    assert min(once() for _ in range(5)) < 0.010
