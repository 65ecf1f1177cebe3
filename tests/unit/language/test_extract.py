"""Choosing the excerpts that answer a question."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.language.evidence import Measures, question_shares, telling_words
from antiphon.language.extract import (
    MOST_COMPARED,
    MOST_EXCERPTS,
    Extraction,
    extract,
)
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


def chosen(found: Extraction, passages: Sequence[Sequence[str]]) -> list[str]:
    return [
        "".join(passages[each.passage][each.first : each.end]).strip()
        for each in found.excerpts
    ]


def keys(found: Extraction, passages: Sequence[Sequence[str]]) -> list[str]:
    return [passages[each.passage][each.key].strip() for each in found.excerpts]


class Likenesses:
    """Likeness by a table; counts the texts that it was asked about."""

    def __init__(self, **like: float) -> None:
        self.like = like
        self.asked: list[str] = []

    def __call__(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked += texts
        return [self._of(text) for text in texts]

    def _of(self, text: str) -> float:
        return max([cos for word, cos in self.like.items() if word in text] or [0.1])


def test_an_excerpt_is_one_run_of_whole_sentences_around_the_one_that_answers() -> None:
    passages = [BREAKERS, QUEUES]

    found = extract("When does a bounded queue refuse messages?", passages, limit=1)

    assert keys(found, passages) == [QUEUES[1].strip()]
    (text,) = chosen(found, passages)
    assert text in "".join(QUEUES)
    assert 2 <= found.excerpts[0].end - found.excerpts[0].first <= MOST_IN_A_RUN
    assert found.evidence > 0.9


def test_a_sentence_that_points_back_brings_the_one_before_it() -> None:
    found = extract(
        "Who made it popular, Nygard or somebody else?", [BREAKERS], limit=1
    )

    assert chosen(found, [BREAKERS]) == [
        "A circuit breaker stops calls to a failing dependency. It was made popular by Michael Nygard in 2007."
    ]
    assert keys(found, [BREAKERS]) == [BREAKERS[2].strip()]


@pytest.mark.parametrize(
    ("question", "plain", "telling"),
    [
        ("When were sagas described?", "Sagas were described by two authors.", "Sagas were described in 1987."),
        ("How many layers has an image?", "An image has its layers.", "An image has five layers, in general."),
        ("Who described sagas?", "Somebody described sagas once.", "Hector Garcia Molina described sagas once."),
        ("What is goodput?", "Watch goodput under load.", "Goodput is the rate of useful answers."),
        ("Why does the cache miss?", "The cache does miss a lot.", "The cache does miss because keys change."),
        ("How do I build the image?", "The image was built before.", "First you build the image with this."),
    ],
)  # fmt: skip
def test_the_kind_of_thing_that_is_asked_for_is_preferred(
    question: str, plain: str, telling: str
) -> None:
    for passage in ([f"{plain} ", f"{telling} "], [f"{telling} ", f"{plain} "]):
        found = extract(question, [passage], limit=1)

        assert keys(found, [passage]) == [telling]


def test_meaning_finds_what_shares_no_word() -> None:
    passage = [*FILLER[:4], "Cars need petrol to move along. ", *FILLER[4:]]
    measures = Measures(likeness=Likenesses(petrol=0.8))

    found = extract("What fuel do automobiles take?", [passage], measures)

    assert keys(found, [passage])[0] == "Cars need petrol to move along."
    assert found.fit.likeness == 0.8


def test_the_lead_is_that_of_the_likest_sentence_over_the_sixth() -> None:
    measures = Measures(likeness=Likenesses(petrol=0.8))

    alone = extract("What fuel?", [["Cars need petrol. ", *FILLER]], measures)
    crowded = extract("What fuel?", [["More petrol. "] * 3 + list(FILLER)], measures)
    nothing = extract("What fuel?", [["Cars need fuel. "]])

    assert alone.fit.lead > 0.7
    assert crowded.fit.lead == alone.fit.lead
    assert nothing.fit.lead == 0.0


def test_what_the_courses_have_no_word_for_is_its_share_of_the_question() -> None:
    def weigh(term: str) -> float:
        return {"queue": 1.0, "line": 1.0}.get(term, 2.0)

    found = extract("Is a frobnicator queue a line?", [QUEUES], Measures(weigh))
    found_with_it = extract(
        "Is a frobnicator queue a line?",
        [["A frobnicator. ", *QUEUES]],
        Measures(weigh),
    )

    assert found.fit.unknown == 0.5
    assert found_with_it.fit.unknown == 0.0
    assert extract("Is a frobnicator queue a line?", [QUEUES]).fit.unknown == 0.0


def test_a_sentence_that_asks_itself_is_known_as_one() -> None:
    assert extract("What is a queue?", [["What is a queue? "]]).fit.is_question
    assert not extract("What is a queue?", [["A queue is a line. "]]).fit.is_question


def test_without_an_embedder_nothing_is_chosen_where_nothing_is_shared() -> None:
    assert extract("What is a monad?", [BREAKERS, QUEUES]) == Extraction()
    assert extract("", [BREAKERS]) == Extraction()
    assert extract("What is a monad?", []) == Extraction()


def test_the_best_excerpt_comes_first_and_what_is_unlikely_beside_it_is_left_out() -> (
    None
):
    passages = [QUEUES, ["A queue of people waits. ", "They buy bread. "]]

    found = extract("When does a bounded queue refuse messages?", passages)

    assert chosen(found, passages) == ["".join(QUEUES[:2]).strip()]


def test_two_places_that_answer_are_two_excerpts() -> None:
    answers = (
        "A bounded queue refuses messages when it is full. ",
        "Messages that a bounded queue refuses are sent again. ",
    )
    passage = [*FILLER[:5], answers[0], *FILLER[5:], answers[1]]

    found = extract("When does a bounded queue refuse messages?", [passage])

    assert set(keys(found, [passage])) == {answer.strip() for answer in answers}


def test_the_same_sentence_in_two_passages_is_taken_once() -> None:
    passages = [["The cache is warm."], ["The cache is warm."]]

    assert len(extract("Is the cache warm?", passages).excerpts) == 1


def test_a_sentence_as_long_as_a_page_stands_alone() -> None:
    page = "The cache is warm, " * 100
    passage = ["It rains. ", f"{page}. ", "It snows. "]

    (found,) = extract("Is the cache warm?", [passage], limit=1).excerpts

    assert (found.first, found.end) == (1, 2)


def test_evidence_is_weak_where_the_telling_words_are_missing() -> None:
    def weigh(term: str) -> float:
        return 6.0 if term in ("kubernet", "paxo") else 1.0

    question = "How do I run Paxos on Kubernetes with a queue?"
    strange = extract(question, [QUEUES], Measures(weigh))
    known = extract("How does a queue refuse messages?", [QUEUES], Measures(weigh))

    assert strange.evidence < 0.2
    assert known.evidence > 0.8


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


def test_below_a_title_that_says_it_all_the_sentence_that_says_it_too_is_marked() -> (
    None
):
    passage = ["A cache keeps answers. ", "It saves time."]

    found = extract("What is a cache?", [passage], titles=["Caching"])

    assert keys(found, [passage]) == ["A cache keeps answers."]


@given(
    st.text(),
    st.lists(st.lists(st.text(), max_size=6), max_size=6),
    st.integers(1, 5),
    st.booleans(),
)
def test_any_text_is_survived_and_the_excerpts_are_runs_within_the_passages(
    question: str, passages: list[list[str]], limit: int, by_meaning: bool
) -> None:
    measures = Measures()
    if by_meaning:
        measures = Measures(likeness=Likenesses(a=0.9, b=-0.3))

    found = extract(question, passages, measures, limit=limit)

    assert 0.0 <= found.evidence <= 1.0
    assert len(found.excerpts) <= limit
    for each in found.excerpts:
        assert 0 <= each.first <= each.key < each.end <= len(passages[each.passage])
        assert each.end - each.first <= MOST_IN_A_RUN
        text = "".join(passages[each.passage][each.first : each.end])
        assert each.end - each.first == 1 or len(text.strip()) <= 2 * LONGEST_RUN_CHARS
    ordered = sorted(found.excerpts)
    assert all(a.passage != b.passage or a.end <= b.first for a, b in pairwise(ordered))


def test_few_sentences_are_compared_by_meaning_however_many_there_are() -> None:
    likeness = Likenesses()
    passages = [
        [f"Sentence {n} of {p} is here. " for n in range(200)] for p in range(20)
    ]

    extract("Which sentence is here?", passages, Measures(likeness=likeness))

    # Each excerpt is compared as a whole too, and the beginning of the first one alone and behind the question.
    assert len(set(likeness.asked[:MOST_COMPARED])) == MOST_COMPARED
    assert len(likeness.asked) == MOST_COMPARED + MOST_EXCERPTS + 2


def test_the_excerpt_that_is_likest_the_question_as_one_text_comes_first() -> None:
    before = ["Now to the pool. ", "It holds connections. ", "They are lent."]
    after = ["Now to the queue. ", "It holds messages. ", "They are read."]

    def likeness(question: str, texts: Sequence[str]) -> Sequence[float]:
        whole = ["queue" in text and "read" in text for text in texts]
        return [0.5 + 0.3 * is_whole for is_whole in whole]

    found = extract("What waits there?", [before, after], Measures(likeness=likeness))

    assert [each.passage for each in found.excerpts] == [1, 0]


def test_an_excerpt_of_short_spoken_sentences_may_have_more_than_five() -> None:
    spoken = [f"It goes on {number} more. " for number in range(4)]
    passage = ["A door slams. ", *spoken, "Resume equals true. ", *FILLER]
    likeness = Likenesses(slams=0.9, Resume=0.9)

    found = extract("A slammed door?", [passage], Measures(likeness=likeness), limit=1)

    assert "A door slams." in chosen(found, [passage])[0]
    assert "Resume equals true." in chosen(found, [passage])[0]


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
    assert len(extract("Why does a queue refuse?", passages).excerpts) <= MOST_EXCERPTS
