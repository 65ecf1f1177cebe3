"""How sure it is that excerpts answer a question, from how well they fit it; pure.

The weights are those of a logistic regression, fitted by `make eval-calibration` on the questions of one half of
chunking_evaluation (https://github.com/brandonstarxel/chunking_evaluation), answered from their own texts and from the
other half's, where nothing answers them; docs/decisions/146 has what they reach on the half they were not fitted on.
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
    likeness=6.0,
    share=3.0,
    evidence=1.0,
    chance=2.0,
    offset=-5.5,
    high=0.9,
    medium=0.6,
    low=0.2,
)
BY_WORDS = Weights(
    likeness=0.0,
    share=3.0,
    evidence=3.0,
    chance=2.0,
    offset=-3.5,
    high=0.9,
    medium=0.6,
    low=0.2,
)
"""For where no embedder is at hand."""


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
