"""The figures of `python -m benchmarks.retrieval` are those of chunking_evaluation."""

from __future__ import annotations

import pytest

from antiphon.vocabulary.values import Passage, StoredText
from benchmarks.retrieval.plot import Point, plot
from benchmarks.retrieval.sets import ExcerptQuestion, Places, Range, coverage

TEXT = "One two.\n\nThree  four. Five six seven."


def passage(text: str, course: str = "numbers") -> Passage:
    return Passage(id="p", source=course, course=course, text=StoredText(text))


def test_a_passage_is_found_in_the_text_whatever_became_of_its_white_space() -> None:
    (found,) = Places(TEXT).ranges(passage("Three four. Five"))

    assert TEXT[found.start : found.end] == "Three  four. Five"


def test_recall_precision_and_iou_count_characters() -> None:
    question = ExcerptQuestion(
        text="What?", corpus="numbers", excerpts=(Range(start=10, end=21),)
    )

    found = coverage(
        question,
        [passage("Three four. Five six"), passage("One two.", course="other")],
        {"numbers": Places(TEXT)},
    )

    assert found.recall == 1.0
    assert found.characters == 28
    assert found.precision == pytest.approx(11 / 28)
    assert found.iou == pytest.approx(11 / 28)


def test_what_is_not_in_the_text_covers_nothing() -> None:
    question = ExcerptQuestion(
        text="What?", corpus="numbers", excerpts=(Range(start=0, end=8),)
    )

    found = coverage(question, [passage("Nine.")], {"numbers": Places(TEXT)})

    assert (found.recall, found.precision) == (0.0, 0.0)


def test_the_picture_shows_each_point() -> None:
    drawn = plot([Point(characters=1_000, recall=71.9)], {1_000: 65.0})

    assert drawn.startswith("<svg")
    assert "71.9" in drawn
    assert "goal 65" in drawn
