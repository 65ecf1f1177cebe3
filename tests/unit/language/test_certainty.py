"""How sure it is that excerpts answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.language.certainty import LEVELS, certainty, least, probability
from antiphon.language.fit import Fit
from tests.fakes_likeness import MIDDLING

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("fit", "level"),
    [
        (Fit(likeness=0.8, share=0.95, chance=0.95, lead=0.45), "high"),
        (Fit(likeness=0.8, share=0.95, chance=0.95, lead=0.05), "medium"),
        (Fit(likeness=0.8, share=0.95, chance=0.6, lead=0.45), "medium"),
        (Fit(likeness=0.5, share=0.5, chance=0.8), "medium"),
        (Fit(likeness=0.45, share=0.25, chance=0.55), "low"),
        (Fit(likeness=0.35, share=0.1, chance=0.55), "low"),
        (Fit(likeness=0.1, share=0.1, chance=0.5, interaction=-0.24), "none"),
        (Fit(share=0.9, evidence=0.9, chance=0.9), "medium"),
        (Fit(share=0.1, evidence=0.1, chance=0.5), "low"),
        (Fit(likeness=0.0), "none"),
    ],
)
def test_the_better_the_fit_the_surer(fit: Fit, level: str) -> None:
    interaction = fit.interaction or MIDDLING

    assert certainty(fit._replace(terms=5, interaction=interaction)) == level


def test_what_few_words_share_is_less_sure_than_what_many_do() -> None:
    fit = Fit(likeness=0.4, share=0.25, chance=0.55, interaction=MIDDLING)

    assert certainty(fit._replace(terms=2)) == "low"
    assert certainty(fit._replace(terms=12)) == "medium"


@given(SHARES, SHARES, SHARES, st.floats(-1, 1))
def test_a_likelier_meaning_makes_nothing_less_sure(
    share: float, chance: float, lead: float, likeness: float
) -> None:
    fit = Fit(likeness, share, chance=chance, lead=lead)
    closer = fit._replace(likeness=min(likeness + 0.2, 1.0))

    assert 0 <= probability(fit) <= probability(closer) <= 1
    assert LEVELS.index(certainty(fit)) <= LEVELS.index(certainty(closer))


def test_an_excerpt_that_leaves_the_question_as_it_is_is_less_sure() -> None:
    fit = Fit(likeness=0.5, share=0.5, chance=0.8, terms=5)

    assert certainty(fit._replace(interaction=-0.05)) == "medium"
    assert certainty(fit._replace(interaction=-0.4)) == "low"


@given(SHARES, SHARES, SHARES)
def test_by_words_alone_nothing_is_called_high(
    share: float, evidence: float, chance: float
) -> None:
    assert certainty(Fit(None, share, evidence, chance)) != "high"


def test_words_that_stand_nowhere_in_the_courses_leave_low_at_best() -> None:
    fit = Fit(likeness=0.8, share=0.55, chance=0.95, lead=0.45, terms=5)

    assert certainty(fit) == "high"
    assert certainty(fit._replace(unknown=0.45)) == "low"


def test_a_sentence_that_asks_itself_is_not_relied_on() -> None:
    fit = Fit(likeness=0.9, share=1.0, chance=0.95, lead=0.45, terms=5)

    assert certainty(fit) == "high"
    assert certainty(fit._replace(is_question=True)) == "medium"


def test_the_least_of_no_levels_is_none() -> None:
    assert least([]) == "none"
    assert least(["high", "low", "medium"]) == "low"
