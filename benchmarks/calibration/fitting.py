"""Fits how sure an answer can be to how well its excerpts fit, and chooses the bars of its levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from antiphon.language.certainty import Model, Scale
from antiphon.language.extract import Fit
from benchmarks.calibration.asking import Measured, Row, State

Floats = npt.NDArray[np.float64]

DECLINED = 0.8
RECOGNISED = 0.97
"""Of the questions about other texts as many are to be declined, and to be called low at best. A bar that leaves a
share of the answerable ones behind moves too much with how far their words are those of the text."""
SUREST = 0.1
"""The share of the answerable questions that is called high: few, but right on texts that it was not fitted on."""
_COUNTS: dict[State, float] = {"answered": 1.0, "near": 0.5}
"""A near question that nothing answers counts half as much as one that is answered."""
_RIDGE = 1.0
_STEPS = 50


def scale_by_meaning(rows: Sequence[Row]) -> Scale:
    """Fits both models to what is chosen by meaning and words."""
    measured = [row.by_meaning for row in rows]
    speaks = _speaks(rows, measured, ("likeness", "share"))
    fits: list[Fit] = []
    right: list[bool] = []
    counts: list[float] = []
    answerable: list[Fit] = []
    for row in rows:
        fit = row.by_meaning.fit
        if row.state == "answered" and not fit.is_question:
            answerable.append(fit)
        if row.state != "far":
            fits.append(fit)
            right.append(row.by_meaning.right)
            counts.append(_COUNTS[row.state])
    answers = _logistic(fits, right, ("chance", "lead"), counts)
    likely = [answers.probability(fit) for fit in answerable]
    high = round(float(np.quantile(likely, 1 - SUREST)), 2)
    return speaks._replace(answers=answers, high=high)


def scale_by_words(rows: Sequence[Row]) -> Scale:
    """Fits the one model that words alone allow."""
    return _speaks(rows, [row.by_words for row in rows], ("share",))


def _speaks(
    rows: Sequence[Row], measured: Sequence[Measured], names: Sequence[str]
) -> Scale:
    """Tells the questions about a text from those about others, and sets the bars."""
    own: list[Fit] = []
    far: list[Fit] = []
    for row, each in zip(rows, measured, strict=True):
        if row.state == "answered":
            own.append(each.fit)
        elif row.state == "far":
            far.append(each.fit)
    about = [True] * len(own) + [False] * len(far)
    model = _logistic([*own, *far], about, names, [1.0] * len(about))
    of_far = [model.probability(each) for each in far]
    medium = round(float(np.quantile(of_far, RECOGNISED)), 2)
    low = round(float(np.quantile(of_far, DECLINED)), 2)
    return Scale(model, medium=medium, low=low)


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
    features = np.array(
        [[getattr(each, name) or 0.0 for name in names] for each in fits]
    )
    spread = features.std(axis=0)
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
