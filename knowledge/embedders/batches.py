"""Batches of texts of about equal length, which need little padding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Text = TypeVar("Text")


def embed_by_length(
    texts: Sequence[Text],
    length: Callable[[Text], int],
    run: Callable[[Sequence[Text]], list[list[float]]],
    size: int,
) -> list[list[float]]:
    """Returns the vectors of texts, in their order.

    Args:
        run: Returns the vectors of one batch.
        size: Most texts in a batch.
    """
    order = sorted(range(len(texts)), key=lambda place: length(texts[place]))
    vectors: list[list[float]] = [[]] * len(texts)
    for start in range(0, len(order), size):
        places = order[start : start + size]
        rows = run([texts[place] for place in places])
        for place, row in zip(places, rows, strict=True):
            vectors[place] = row
    return vectors
