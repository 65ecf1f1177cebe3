"""The one ranker of sentences: what each signal adds, and that a signal left out adds nothing."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from antiphon.language.evidence import TermShares, question_shares
from antiphon.language.ranking import (
    BEGINNING_WEIGHT,
    CALLS_WEIGHT,
    DEFINITION_WEIGHT,
    FRAGMENT_WEIGHT,
    NAMED_WEIGHT,
    NAMES_WEIGHT,
    NEIGHBOUR_WEIGHT,
    NUMBER_WEIGHT,
    PAIR_WEIGHT,
    RANK_WEIGHT,
    SCORE_WEIGHT,
    SHAPE_WEIGHT,
    TERMS_WEIGHT,
    TITLE_WEIGHT,
    Forms,
    PassageSignals,
    sentence_scores,
)
from antiphon.language.words import terms


class Line(NamedTuple):
    number: int
    terms: frozenset[str]


ASKED = TermShares({"queue": 1.0, "bound": 1.0})
NOTHING = Line(1, frozenset())
LAST = PassageSignals(rank=1_000_000)


def lines(*texts: str) -> list[Line]:
    return [Line(number, frozenset(terms(text))) for number, text in enumerate(texts)]


def scores(signals: PassageSignals, *texts: str) -> list[float]:
    return sentence_scores(ASKED, lines(*texts), signals)


@pytest.mark.parametrize(
    ("signals", "adds"),
    [
        (LAST._replace(rank=0), RANK_WEIGHT),
        (LAST._replace(rank=1), RANK_WEIGHT / 2),
        (LAST._replace(relative_score=0.5), SCORE_WEIGHT / 2),
        (LAST._replace(found_again=True), CALLS_WEIGHT),
        (LAST._replace(title_named=0.5), TITLE_WEIGHT / 2),
        (LAST._replace(is_named=True), NAMED_WEIGHT),
        (LAST._replace(labels=frozenset({"queue"})), TERMS_WEIGHT / 2),
        (LAST._replace(labels=frozenset({"bread"})), 0.0),
        (LAST._replace(starts_lesson=True), BEGINNING_WEIGHT),
        (LAST._replace(naming={0}), NAMES_WEIGHT),
        (LAST._replace(naming={1}), 0.0),
        (LAST._replace(forms={0: 0.07}), 0.07),
    ],
)
def test_each_signal_adds_what_its_weight_says(
    signals: PassageSignals, adds: float
) -> None:
    (score,) = scores(signals, "Bread is baked.")

    assert score == pytest.approx(adds, abs=1e-5)


def test_a_sentence_counts_for_what_it_holds_and_a_little_for_its_better_neighbour() -> (
    None
):
    found = scores(LAST, "A queue.", "A bounded queue.", "Bread.")

    assert found == pytest.approx(
        [
            0.5 * TERMS_WEIGHT + NEIGHBOUR_WEIGHT,
            TERMS_WEIGHT + 0.5 * NEIGHBOUR_WEIGHT,
            NEIGHBOUR_WEIGHT,
        ],
        abs=1e-5,
    )


def test_a_term_of_the_labels_counts_once() -> None:
    labelled = LAST._replace(labels=frozenset({"queue"}))

    assert scores(labelled, "A queue.") == scores(LAST, "A queue.")


@pytest.mark.parametrize(
    ("question", "text", "adds"),
    [
        (
            "What is a bounded queue?",
            "Use a bounded queue in every service.",
            PAIR_WEIGHT,
        ),
        (
            "What is a bounded queue?",
            "A queue is never bounded by the services around it.",
            0.0,
        ),
        (
            "When were sagas described?",
            "Two authors wrote about sagas in 1987.",
            SHAPE_WEIGHT,
        ),
        (
            "How many retries?",
            "It makes at most 5 retries before failing.",
            NUMBER_WEIGHT,
        ),
        (
            "How accurate did retries make it?",
            "It was right in 75% of all cases.",
            NUMBER_WEIGHT,
        ),
        ("How did retries make it?", "It was right in 75% of all cases.", 0.0),
        (
            "What is backpressure?",
            "Slowing the sender down is called backpressure.",
            DEFINITION_WEIGHT + SHAPE_WEIGHT,
        ),
        (
            "Who invented sagas?",
            "The inventor, Kenneth Salem, called these sagas.",
            SHAPE_WEIGHT,
        ),
        ("Where are sagas kept?", "Kenneth Salem described some sagas in 1987.", 0.0),
        ("What is backpressure?", "## Backpressure", FRAGMENT_WEIGHT),
        (
            "How does backpressure work?",
            "Okay so now, backpressure in queues.",
            FRAGMENT_WEIGHT,
        ),
        (
            "How does backpressure work?",
            "So now backpressure slows every sender down until all messages are through.",
            0.0,
        ),
        (
            "What is backpressure?",
            "Why does every large system need backpressure?",
            FRAGMENT_WEIGHT,
        ),
    ],
)
def test_the_form_of_a_sentence_adds_its_pairs_and_the_kind_of_thing_asked_for(
    question: str, text: str, adds: float
) -> None:
    forms = Forms(question, question_shares(question))

    assert forms.score(text, terms(text)) == pytest.approx(adds)
