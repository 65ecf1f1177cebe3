"""Weighing meaning and words."""

from __future__ import annotations

import pytest

from antiphon.knowledge.candidates import best, fuse, standardised
from antiphon.knowledge.word_hits import WordHits, fts_query, words_spread


def test_nothing_in_a_question_is_read_as_an_operator() -> None:
    assert fts_query(['a"b', "NEAR", "x*", "x*"]) == '"a""b" OR "NEAR" OR "x*"'


def test_a_question_of_a_hundred_kilobytes_is_a_short_query() -> None:
    assert fts_query([f"t{n}" for n in range(20_000)]).count(" OR ") == 63


def test_words_are_standardised_over_all_chunks_matching_or_not() -> None:
    mean, deviation = words_spread(
        WordHits(scores={1: 4.0}, total=4.0, squares=16.0), chunks=4
    )

    assert mean == 1.0
    assert deviation == pytest.approx(3**0.5)


def test_telling_words_outweigh_a_slightly_better_meaning() -> None:
    hits = WordHits(scores={2: 5.0}, total=5.0, squares=25.0)

    scores = fuse({1: 0.52, 2: 0.50}, (0.1, 0.1), hits, chunks=100, weight=0.8)

    assert list(best(scores, 1)) == [2]


def test_where_nothing_varies_nothing_counts() -> None:
    assert standardised(3.0, (3.0, 0.0)) == 0.0
    assert fuse(
        {1: 0.5}, (0.5, 0.0), WordHits(scores={}, total=0.0, squares=0.0), 1, 0.8
    ) == {1: 0.0}


def test_ties_are_ranked_in_order() -> None:
    assert list(best({3: 1.0, 1: 1.0, 2: 2.0}, 2)) == [2, 1]
