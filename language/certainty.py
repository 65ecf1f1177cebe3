"""How sure it is that excerpts answer a question, from how well they fit it; pure.

The weights are those of a logistic regression, fitted by `make eval-calibration` on one half of chunking_evaluation
(https://github.com/brandonstarxel/chunking_evaluation): its questions answered from their own texts, from the same
without what answers them, and the other half's questions, which nothing there answers; docs/decisions/146 has what they
reach on questions that they were not fitted on.
"""

from __future__ import annotations

from math import exp
from typing import Literal, NamedTuple

from antiphon.language.extract import Fit

Certainty = Literal["high", "medium", "low", "none"]
LEVELS: tuple[Certainty, ...] = ("none", "low", "medium", "high")
"""From no answer at all to one that can be relied on."""


class Weights(NamedTuple):
    """One logistic model: the weight of each feature of a `Fit`, and the bars of the levels in its probability."""

    likeness: float
    share: float
    evidence: float
    chance: float
    offset: float
    high: float
    medium: float
    low: float


BY_MEANING = Weights(
    likeness=5.06,
    share=2.21,
    evidence=0.0,
    chance=1.2,
    offset=-5.55,
    high=0.75,
    medium=0.17,
    low=0.09,
)
BY_WORDS = Weights(
    likeness=0.0,
    share=3.38,
    evidence=0.92,
    chance=-0.51,
    offset=-2.52,
    high=1.0,
    medium=0.14,
    low=0.11,
)
"""For where no embedder is at hand; by words alone nothing was right often enough to be called high."""


def probability(fit: Fit) -> float:
    """Returns how likely it is that the excerpts answer, 0 to 1."""
    weights = _weights_for(fit)
    score = weights.offset
    score += weights.likeness * (fit.likeness or 0.0)
    score += weights.share * fit.share
    score += weights.evidence * fit.evidence
    score += weights.chance * fit.chance
    return 1 / (1 + exp(-score))


def certainty(fit: Fit) -> Certainty:
    """Returns how sure it is that the excerpts answer; `none` for what does not speak to the question."""
    weights = _weights_for(fit)
    likely = probability(fit)
    if likely >= weights.high:
        return "high"
    if likely >= weights.medium:
        return "medium"
    if likely >= weights.low:
        return "low"
    return "none"


def least(levels: list[Certainty]) -> Certainty:
    """Returns the lowest of the levels; `none` where there are none."""
    return min(levels, key=LEVELS.index, default="none")


def _weights_for(fit: Fit) -> Weights:
    if fit.likeness is None:
        return BY_WORDS
    return BY_MEANING
