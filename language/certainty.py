"""How sure it is that excerpts answer a question, from how well they fit it; pure.

Two questions, each with a logistic model: do the courses speak of what is asked at all, and is what was chosen the
place that answers it? The weights are fitted by `make eval-calibration` on chunking_evaluation
(https://github.com/brandonstarxel/chunking_evaluation), which shows what the same fit on either half of its texts is
worth on the other half; docs/decisions/146 has the figures.
"""

from __future__ import annotations

from math import exp
from typing import Literal, NamedTuple

from antiphon.language.extract import Fit

Certainty = Literal["high", "medium", "low", "none"]
LEVELS: tuple[Certainty, ...] = ("none", "low", "medium", "high")
"""From no answer at all to one that can be relied on."""


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


class Scale(NamedTuple):
    """What makes an answer medium, low or none.

    Attributes:
        speaks: How likely it is that the courses speak of what is asked.
        medium: The least such probability of a medium answer.
        low: The same of one that is shown at all.
        answers: How likely it is that what was chosen answers; None where nobody can tell.
        high: The least such probability of a high answer.
    """

    speaks: Model
    medium: float
    low: float
    answers: Model | None = None
    high: float = 1.0


BY_MEANING = Scale(
    speaks=Model(offset=-10.97, likeness=16.67, share=9.88),
    medium=0.39,
    low=0.05,
    answers=Model(offset=-2.68, chance=3.79, lead=1.98),
    high=0.84,
)
BY_WORDS = Scale(speaks=Model(offset=-5.32, share=15.54), medium=0.64, low=0.12)
"""For where no embedder is at hand; by words alone nothing was right often enough to be called high."""
MOST_UNKNOWN = 0.4
"""Where more of a question is in words that stand nowhere in the courses, what is like it speaks of something else."""

SOME_UNKNOWN = 0.2
LOOSE = 0.45
"""Where a fifth of it is, what is no more like it than this speaks of something else too."""


def probability(fit: Fit) -> float:
    """Returns how likely it is that the courses speak of what is asked, 0 to 1."""
    return scale_of(fit).speaks.probability(fit)


def certainty(fit: Fit, scale: Scale | None = None) -> Certainty:
    """Returns how sure it is that the excerpts answer; `none` for what does not speak to the question.

    Args:
        scale: None means the one for what is known of the fit.
    """
    if scale is None:
        scale = scale_of(fit)
    likely = scale.speaks.probability(fit)
    if likely < scale.low:
        return "none"
    if likely < scale.medium:
        return "low"
    if scale.answers is None:
        return "medium"
    if _is_of_something_else(fit):
        return "low"
    if fit.is_question or scale.answers.probability(fit) < scale.high:
        return "medium"
    return "high"


def _is_of_something_else(fit: Fit) -> bool:
    """Returns True where too much of the question is in words that stand nowhere in the courses."""
    if fit.unknown > MOST_UNKNOWN:
        return True
    return fit.unknown >= SOME_UNKNOWN and (fit.likeness or 0.0) < LOOSE


def least(levels: list[Certainty]) -> Certainty:
    """Returns the lowest of the levels; `none` where there are none."""
    return min(levels, key=LEVELS.index, default="none")


def scale_of(fit: Fit) -> Scale:
    """Returns the scale for what is known of the fit."""
    if fit.likeness is None:
        return BY_WORDS
    return BY_MEANING
