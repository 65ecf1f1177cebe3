"""How well chosen excerpts fit a question."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import pytest

from antiphon.language.evidence import Likeness, Measures
from antiphon.language.extract import extract

QUESTION = "On which port does the RabbitMQ broker listen?"
EXCERPT = "The RabbitMQ broker came out in 2007."
APART = 0.3


def likeness_where_both_are(together: float) -> Likeness:
    """Stands in for an embedder to which the excerpt is a little like the question, and both as one text so much."""

    def likeness(asked: str, texts: Sequence[str]) -> Sequence[float]:
        found: list[float] = []
        for text in texts:
            found.append(together if asked in text else APART)
        return found

    return likeness


def interaction(question: str, together: float) -> float:
    measures = Measures(likeness=likeness_where_both_are(together))
    return extract(question, [[EXCERPT]], measures).fit.interaction


def test_parts_of_a_text_that_take_no_notice_of_one_another_do_not_interact() -> None:
    asked, said = len(QUESTION), len(EXCERPT)
    # The mean of two vectors of unit length, each weighted by the length of its text.
    length = sqrt(asked**2 + said**2 + 2 * asked * said * APART)
    of_mean = (asked + said * APART) / length

    assert interaction(QUESTION, of_mean) == pytest.approx(0.0)


def test_an_excerpt_that_draws_the_question_away_from_itself_interacts_with_it() -> (
    None
):
    assert interaction(QUESTION, 0.5) > interaction(QUESTION, 0.7) > 0.0


def test_a_question_of_pages_is_measured_by_its_beginning() -> None:
    pages = " ".join([QUESTION] * 200)

    assert 0.0 < interaction(pages, 0.5) < 1.0


def test_by_words_alone_nothing_is_known_to_interact() -> None:
    assert extract(QUESTION, [[EXCERPT]]).fit.interaction == 0.0
