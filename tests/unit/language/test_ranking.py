"""The one ranker of sentences: what each signal adds, and that a signal left out adds nothing."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from antiphon.language.evidence import TermShares
from antiphon.language.ranking import (
    BEGINNING_WEIGHT,
    CALLS_WEIGHT,
    NAMED_WEIGHT,
    NAMES_WEIGHT,
    NEIGHBOUR_WEIGHT,
    RANK_WEIGHT,
    SCORE_WEIGHT,
    TERMS_WEIGHT,
    TITLE_WEIGHT,
    PassageSignals,
    sentence_scores,
)
from antiphon.language.words import terms


class Line(NamedTuple):
    number: int
    terms: frozenset[str]


ASKED = TermShares({"queue": 1.0, "bound": 1.0})
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
