"""Fits a logistic model of whether excerpts answer to how well they fit, and chooses the bars of its levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from antiphon.language.certainty import Weights
from benchmarks.calibration.asking import Measured, Row

Floats = npt.NDArray[np.float64]

MOST_REFUSED = 0.01
MOST_DOUBTED = 0.05
"""The shares of answerable questions that may be declined, and that may be called low."""
HIGH_IS_RIGHT = 0.9
"""The excerpts that the set names are not all that answer: of 18 answers called wrong at the top, read one by one,
three do answer. So nine in ten by the set are more than nineteen in twenty to a reader of courses."""
_RIDGE = 0.02
_STEPS = 60


def fit(rows: Sequence[Row], *, by_meaning: bool) -> Weights:
    """Fits the weights, and chooses the bars by what may be refused and by how much of what is called high is right."""
    asked = [_choice(row, by_meaning) for row in rows]
    # What is near and no answer teaches more than what is far off.
    near = [row.left[not by_meaning] for row in rows if row.left is not None]
    every = [*asked, *near]
    weights = _logistic(
        _features(every), np.array([float(each.right) for each in every])
    )
    likely = _likely(_features(asked), weights)
    answerable = np.array([row.answerable for row in rows])
    right = np.array([float(each.right) for each in asked])
    likeness, share, evidence, chance, offset = weights.round(2).tolist()
    return Weights(
        likeness=likeness,
        share=share,
        evidence=evidence,
        chance=chance,
        offset=offset,
        high=round(_bar(likely, right), 2),
        medium=round(float(np.quantile(likely[answerable], MOST_DOUBTED)), 2),
        low=round(float(np.quantile(likely[answerable], MOST_REFUSED)), 2),
    )


def _choice(row: Row, by_meaning: bool) -> Measured:
    if by_meaning:
        return row.by_meaning
    return row.by_words


def _features(measured: Sequence[Measured]) -> Floats:
    return np.array(
        [
            [each.likeness, each.share, each.evidence, each.chance, 1.0]
            for each in measured
        ]
    )


def _likely(features: Floats, weights: Floats) -> Floats:
    likely: Floats = 1 / (1 + np.exp(-(features @ weights)))
    return likely


def _logistic(features: Floats, right: Floats) -> Floats:
    """Returns the weights of greatest likelihood, held back a little, by Newton's method."""
    weights = np.zeros(features.shape[1])
    held_back = _RIDGE * np.eye(features.shape[1])
    for _ in range(_STEPS):
        likely = _likely(features, weights)
        slope = features.T @ (likely - right) + held_back @ weights
        curve = (features * (likely * (1 - likely))[:, None]).T @ features + held_back
        weights -= np.linalg.solve(curve, slope)
    return weights


def _bar(likely: Floats, right: Floats) -> float:
    """Returns the lowest probability from which on up enough answers are right; of nine in ten always the tenth."""
    order = np.argsort(-likely)
    right_so_far = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    reached = np.flatnonzero(right_so_far >= HIGH_IS_RIGHT)
    if not len(reached):
        return 1.0
    return float(likely[order][reached[-1]])
