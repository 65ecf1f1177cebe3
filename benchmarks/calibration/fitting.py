"""Fits how sure an answer can be to how well its excerpts fit."""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

import numpy as np
import numpy.typing as npt

from antiphon.language.certainty import Model, Models
from antiphon.language.fit import Fit
from benchmarks.calibration.asking import Row, State

Floats = npt.NDArray[np.float64]

_COUNTS: dict[State, float] = {
    "answered": 1.0,
    "unanswerable": 1.0,
    "far": 0.25,
    "near": 0.2,
}
"""What a question counts. Of the others' texts there are as many as of its own, and people rarely ask so far away; in
long texts on one subject, what is left when an answer is cut out of them often answers too."""
_OF_TEXTS = 0.1
"""What one counts that was made from a text by a model, in the text's own words, against one that a person wrote: in
such words, what is asked of a thing is like the text wherever the thing is (docs/decisions/256)."""
_RIDGE = 1.0
_STEPS = 50


def models_by_meaning(rows: Sequence[Row]) -> Models:
    """Fits both models to what is chosen by meaning and words."""
    fits = [row.by_meaning.fit for row in rows]
    right = [row.by_meaning.right for row in rows]
    counts = _counts(rows)
    alone = ("likeness", "share", "length", "interaction")
    beside = (*alone, "chance", "lead")
    return Models(
        alone=_logistic(fits, right, alone, counts),
        beside=_logistic(fits, right, beside, counts),
    )


def models_by_words(rows: Sequence[Row]) -> Models:
    """Fits the one feature that words alone allow."""
    fits = [row.by_words.fit for row in rows]
    right = [row.by_words.right for row in rows]
    return Models(alone=_logistic(fits, right, ("share",), _counts(rows)))


def _counts(rows: Sequence[Row]) -> list[float]:
    counts: list[float] = []
    for row in rows:
        count = _COUNTS[row.state]
        if row.is_of_text:
            count *= _OF_TEXTS
        counts.append(count)
    return counts


def _logistic(
    fits: Sequence[Fit],
    right: Sequence[bool],
    names: Sequence[str],
    counts: Sequence[float],
) -> Model:
    """Returns the model of greatest likelihood, held back a little, by Newton's method.

    Args:
        names: The features that it may use.
        counts: How much each of the fits counts.
    """
    features = np.array([[_feature(each, name) for name in names] for each in fits])
    spread = features.std(axis=0)
    # What is alike everywhere tells nothing.
    spread[spread == 0.0] = 1.0
    scaled = np.column_stack([features / spread, np.ones(len(fits))])
    wanted = np.array(right, dtype=float)
    count = np.array(counts)
    weights = np.zeros(scaled.shape[1])
    held_back = _RIDGE * np.eye(scaled.shape[1])
    held_back[-1, -1] = 0.0
    for _ in range(_STEPS):
        likely: Floats = 1 / (1 + np.exp(-(scaled @ weights)))
        slope = scaled.T @ (count * (likely - wanted)) + held_back @ weights
        bend = (count * likely * (1 - likely))[:, None]
        curve = (scaled * bend).T @ scaled + held_back
        weights -= np.linalg.solve(curve, slope)
    by_name = dict(zip(names, (weights[:-1] / spread).round(2).tolist(), strict=True))
    return Model(round(float(weights[-1]), 2), **by_name)


def _feature(fit: Fit, name: str) -> float:
    if name == "length":
        return log1p(fit.terms)
    return float(getattr(fit, name) or 0.0)
