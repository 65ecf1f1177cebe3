"""Recognises questions that a library cannot answer by the likeness of its best sentence to the question.

It asks both libraries the questions of each set: the set's own library can answer them, the other cannot. It fits the
threshold on one library with both sets, and tests it on the other library.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from antiphon.knowledge import Library
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage, Value

# The share of answerable questions that the fitted threshold may refuse.
_REFUSED = 0.05


class Absence(Value, frozen=True, kw_only=True):
    """A threshold of likeness, and its results in per cent on a set that was not used to fit it."""

    fitted_on: str
    shown_on: str
    threshold: float
    recognised: float
    refused: float


def closeness(library: Library, question: str, passages: Sequence[Passage]) -> float:
    """Returns the likeness of the passages' best sentence to the question."""
    sentences = []
    for passage in passages:
        for number in range(len(passage.starts)):
            sentences.append(passage.sentence(number))
    return max(library.likeness(question, sentences), default=0.0)


def measure_absence(
    folders: dict[str, Path], questions: dict[str, list[str]], embedder: Embedder
) -> list[Absence]:
    """Fits a threshold on each of two libraries and tests it on the other."""
    found: dict[tuple[str, str], list[float]] = {}
    for name, folder in folders.items():
        library = Library.open(folder, embedder)
        for asked, texts in questions.items():
            found[name, asked] = [
                closeness(library, text, library.search(text)) for text in texts
            ]
        library.close()
    one, other = folders
    results = []
    for fitted_on, shown_on in ((one, other), (other, one)):
        threshold = float(np.quantile(found[fitted_on, fitted_on], _REFUSED))
        result = Absence(
            fitted_on=fitted_on,
            shown_on=shown_on,
            threshold=threshold,
            recognised=_below(found[shown_on, fitted_on], threshold),
            refused=_below(found[shown_on, shown_on], threshold),
        )
        results.append(result)
    return results


def _below(values: Sequence[float], threshold: float) -> float:
    return 100 * sum(value < threshold for value in values) / len(values)
