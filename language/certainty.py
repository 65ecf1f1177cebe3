"""How sure it is that excerpts answer a question, from how well they fit it; pure.

One logistic model says how likely it is that what is shown answers. Its weights are fitted by `make eval-calibration`
on the sample questions of several writers and on chunking_evaluation
(https://github.com/brandonstarxel/chunking_evaluation), each of them left out in turn to see what the fit is worth on
questions that it has not seen; docs/decisions/146 has the figures.
"""

from __future__ import annotations

from math import exp
from typing import Literal, NamedTuple

from antiphon.language.extract import Fit

Certainty = Literal["high", "medium", "low", "none"]
LEVELS: tuple[Certainty, ...] = ("none", "low", "medium", "high")
"""From no answer at all to one that can be relied on."""

HIGH = 0.93
MEDIUM = 0.35
LOW = 0.15
"""How likely an answer of each level is at least; below the last nothing is shown."""


class Model(NamedTuple):
    """A logistic model: the weight of each feature of a `Fit`."""

    offset: float
    likeness: float = 0.0
    share: float = 0.0
    chance: float = 0.0
    lead: float = 0.0

    def probability(self, fit: Fit) -> float:
        """Returns how likely it is, 0 to 1."""
        score = self.offset
        score += self.likeness * (fit.likeness or 0.0)
        score += self.share * fit.share
        score += self.chance * fit.chance
        score += self.lead * fit.lead
        return 1 / (1 + exp(-score))


BY_MEANING = Model(offset=-3.88, likeness=2.89, share=1.16, chance=2.38, lead=3.49)
BY_WORDS = Model(offset=-5.13, share=15.41)
"""For where no embedder is at hand; by words alone nothing was right often enough to be called high."""
MOST_UNKNOWN = 0.4
"""Where more of a question is in words that stand nowhere in the courses, what is like it speaks of something else."""

SOME_UNKNOWN = 0.2
LOOSE = 0.45
"""Where a fifth of it is, what is no more like it than this speaks of something else too."""


def probability(fit: Fit, model: Model | None = None) -> float:
    """Returns how likely it is that the excerpts answer, 0 to 1.

    Args:
        model: None means the one for what is known of the fit.
    """
    if model is None:
        model = BY_MEANING
        if fit.likeness is None:
            model = BY_WORDS
    return model.probability(fit)


def certainty(fit: Fit, model: Model | None = None) -> Certainty:
    """Returns how sure it is that the excerpts answer; `none` for what does not speak to the question.

    Args:
        model: None means the one for what is known of the fit.
    """
    likely = probability(fit, model)
    if likely < LOW:
        return "none"
    if likely < MEDIUM or _is_of_something_else(fit):
        return "low"
    if likely < HIGH or fit.is_question or fit.likeness is None:
        return "medium"
    return "high"


def _is_of_something_else(fit: Fit) -> bool:
    """Returns True where too much of the question is in words that stand nowhere in the courses."""
    if fit.likeness is None:
        return False
    if fit.unknown > MOST_UNKNOWN:
        return True
    return fit.unknown >= SOME_UNKNOWN and fit.likeness < LOOSE


def least(levels: list[Certainty]) -> Certainty:
    """Returns the lowest of the levels; `none` where there are none."""
    return min(levels, key=LEVELS.index, default="none")
