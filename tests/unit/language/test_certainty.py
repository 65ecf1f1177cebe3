"""How sure it is that excerpts answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.language.certainty import LEVELS, certainty, least, probability
from antiphon.language.extract import Fit

SHARES = st.floats(0, 1)


@pytest.mark.parametrize(
    ("fit", "level"),
    [
        (Fit(likeness=0.8, share=0.95, evidence=0.95, chance=0.9), "high"),
        (Fit(likeness=0.5, share=0.5, evidence=0.5, chance=0.8), "medium"),
        (Fit(likeness=0.45, share=0.25, evidence=0.2, chance=0.55), "low"),
        (Fit(likeness=0.1, share=0.1, evidence=0.1, chance=0.5), "none"),
        (Fit(share=0.9, evidence=0.9, chance=0.9), "medium"),
        (Fit(share=0.1, evidence=0.1, chance=0.5), "none"),
        (Fit(), "none"),
    ],
)
def test_the_better_the_fit_the_surer(fit: Fit, level: str) -> None:
    assert certainty(fit) == level


@given(SHARES, SHARES, SHARES, st.floats(-1, 1))
def test_a_likelier_meaning_makes_nothing_less_sure(
    share: float, evidence: float, chance: float, likeness: float
) -> None:
    fit = Fit(likeness, share, evidence, chance)
    closer = fit._replace(likeness=min(likeness + 0.2, 1.0))

    assert 0 <= probability(fit) <= probability(closer) <= 1
    assert LEVELS.index(certainty(fit)) <= LEVELS.index(certainty(closer))


@given(SHARES, SHARES, SHARES)
def test_by_words_alone_nothing_is_called_high(
    share: float, evidence: float, chance: float
) -> None:
    assert certainty(Fit(None, share, evidence, chance)) != "high"


def test_the_least_of_no_levels_is_none() -> None:
    assert least([]) == "none"
    assert least(["high", "low", "medium"]) == "low"
