"""Windows over a lesson's sentences: each sentence alone, among its neighbours, and as a part of its page.

A window's vector is the mean of its sentences' vectors weighted by their tokens, and the title's vector. It is never
stored: a question's likeness to it follows from the likeness to the sentences and the length of the window's vector,
which is stored. So one embedding a sentence serves every size, and no text is embedded twice. On chunking_evaluation
such means find as much as embedding the windows themselves (docs/design/retrieval.md).
"""

from __future__ import annotations

import numpy as np

from antiphon.knowledge.vectors import Vector

REACHES = (0, 2, 4)
"""The number of neighbours on either side in each of a sentence's windows."""
# The weight of a title in each window, in tokens.
_TITLE_WEIGHT = 5.0


def window_sums(values: Vector, reach: int) -> Vector:
    """Sums rows over each row's window, cut at the first and the last row."""
    count = len(values)
    sums = np.zeros((count + 1, *values.shape[1:]), dtype=np.float64)
    np.cumsum(values, axis=0, out=sums[1:])
    places = np.arange(count)
    low = np.maximum(places - reach, 0)
    high = np.minimum(places + reach + 1, count)
    windows: Vector = (sums[high] - sums[low]).astype(np.float32)
    return windows


def window_vectors(rows: Vector, tokens: Vector, title: Vector, reach: int) -> Vector:
    """Returns the vector of each sentence's window, not normalised.

    Args:
        rows: The sentences' vectors, of one section, in order.
        title: The vector of the section's titles.
    """
    windows: Vector = window_sums(rows * tokens[:, None], reach) + _TITLE_WEIGHT * title
    return windows


def chunk_vector(rows: Vector, tokens: Vector, title: Vector) -> Vector:
    """Returns the vector of a whole chunk, of unit length."""
    total = (rows * tokens[:, None]).sum(axis=0) + _TITLE_WEIGHT * title
    unit: Vector = total / np.linalg.norm(total)
    return unit


def window_lengths(rows: Vector, tokens: Vector, title: Vector) -> Vector:
    """Returns the lengths of the windows' vectors: one row a sentence, one column a reach."""
    columns = [
        np.linalg.norm(window_vectors(rows, tokens, title, reach), axis=1)
        for reach in REACHES
    ]
    lengths: Vector = np.stack(columns, axis=1).astype(np.float32)
    return lengths


def window_cosines(
    cosines: Vector, tokens: Vector, title_cosines: Vector, lengths: Vector
) -> Vector:
    """Returns a question's likeness to each window, from its likeness to the sentences; shaped as `lengths`."""
    weighted, titles = cosines * tokens, _TITLE_WEIGHT * title_cosines
    columns = [window_sums(weighted, reach) + titles for reach in REACHES]
    sums = np.stack(columns, axis=1)
    found: Vector = (sums / np.maximum(lengths, 1e-9)).astype(np.float32)
    return found
