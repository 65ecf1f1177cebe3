"""How well chosen excerpts fit a question."""

from __future__ import annotations

import pytest

from antiphon.language.evidence import Measures
from antiphon.language.extract import extract
from tests.fakes_likeness import all_alike

QUESTION = "On which port does the RabbitMQ broker listen?"
EXCERPT = "The RabbitMQ broker came out in 2007."


def interaction(question: str, known: float) -> float:
    """Returns the interaction that is measured by an embedder of which it is known."""
    measures = Measures(likeness=all_alike(0.3, interaction=known))
    return extract(question, [[EXCERPT]], measures).fit.interaction


@pytest.mark.parametrize("known", [0.05, 0.0, -0.3])
def test_how_far_an_excerpt_draws_its_question_is_told_from_both_as_one_text(
    known: float,
) -> None:
    assert interaction(QUESTION, known) == pytest.approx(known)


def test_a_question_of_pages_is_measured_by_its_beginning() -> None:
    pages = " ".join([QUESTION] * 200)

    assert interaction(pages, -0.3) == pytest.approx(-0.3)


def test_by_words_alone_nothing_is_known_to_interact() -> None:
    assert extract(QUESTION, [[EXCERPT]]).fit.interaction == 0.0
