"""Windows of sentences: what is derived is what would have been embedded as their mean."""

from __future__ import annotations

import numpy as np
import pytest

from antiphon.knowledge.vectors import SmallVectors
from antiphon.knowledge.windows import (
    REACHES,
    chunk_vector,
    window_cosines,
    window_lengths,
    window_sums,
    window_vectors,
)

CHANCE = np.random.default_rng(7)
ROWS = CHANCE.standard_normal((12, 8)).astype(np.float32)
ROWS /= np.linalg.norm(ROWS, axis=1, keepdims=True)
TOKENS = CHANCE.integers(3, 40, 12).astype(np.float32)
TITLE, QUERY = ROWS[3][::-1].copy(), ROWS[5][::-1].copy()


def test_a_window_ends_where_the_sentences_do() -> None:
    sums = window_sums(np.ones(6, dtype=np.float32), 2)

    assert sums.tolist() == [3, 4, 5, 5, 4, 3]


def test_likeness_to_a_window_is_that_to_its_vector() -> None:
    lengths = window_lengths(ROWS, TOKENS, TITLE)
    titles = np.full(12, TITLE @ QUERY, dtype=np.float32)

    found = window_cosines(ROWS @ QUERY, TOKENS, titles, lengths)

    for column, reach in enumerate(REACHES):
        vectors = window_vectors(ROWS, TOKENS, TITLE, reach)
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        assert found[:, column] == pytest.approx(unit @ QUERY, abs=1e-5)


def test_a_chunk_of_one_sentence_is_its_window() -> None:
    alone = window_vectors(ROWS[:1], TOKENS[:1], TITLE, 0)[0]

    assert chunk_vector(ROWS[:1], TOKENS[:1], TITLE) == pytest.approx(
        alone / np.linalg.norm(alone), abs=1e-6
    )


def test_a_vector_at_a_byte_a_number_is_nearly_itself() -> None:
    small = SmallVectors.of(ROWS)

    again = SmallVectors.decode(small.encode(), 8).rows()

    assert (again * ROWS).sum(axis=1).min() > 0.9999
