"""How well chosen excerpts fit a question."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from antiphon.language.evidence import Measures
from antiphon.language.extract import extract


def test_what_is_like_a_question_beyond_the_names_that_both_hold_is_told_apart() -> (
    None
):
    question = "On which port does the RabbitMQ broker listen?"

    def likeness(asked: str, texts: Sequence[str]) -> Sequence[float]:
        """Stands in for an embedder: a cosine of words."""
        words = set(asked.lower().strip("?").split())
        found: list[float] = []
        for text in texts:
            held = set(text.lower().rstrip(". ").split())
            found.append(len(words & held) / sqrt(len(words) * max(len(held), 1)))
        return found

    def beyond(sentence: str) -> float:
        measures = Measures(likeness=likeness)
        return extract(question, [[sentence]], measures).fit.beyond

    assert beyond("The RabbitMQ broker came out in 2007.") < 0.2
    assert beyond("The RabbitMQ broker does listen on port 5672.") > 0.3
