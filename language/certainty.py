"""How sure it is that excerpts answer a question, from how well they fit it; pure.

How likely it is that what is shown answers, a logistic model says from its likeness to the question and the words that
it shares with it. That it stands out among what was found is no evidence by itself, for something always does; only
where both speak for an answer is it called high. The weights are fitted by `make eval-calibration` on the sample
questions of several writers and on chunking_evaluation (https://github.com/brandonstarxel/chunking_evaluation): each is
left out in turn to see what the fit is worth on questions that it has not seen (docs/decisions/146).
"""

from __future__ import annotations

from math import exp, log1p
from typing import Literal, NamedTuple

from antiphon.language.fit import Fit

Certainty = Literal["high", "medium", "low", "none"]
LEVELS: tuple[Certainty, ...] = ("none", "low", "medium", "high")
"""From no answer at all to one that can be relied on."""

HIGH = 0.93
MEDIUM = 0.45
LOW = 0.15
"""How likely an answer of each level is at least; below the last nothing is shown."""
MEDIUM_IN_LESSON = 0.12
"""As likely is a medium answer from the lesson that the question names: whoever names it knows that it speaks of it."""


class Model(NamedTuple):
    """A logistic model: the weight of each feature of a `Fit`.

    Attributes:
        interaction: How far question and excerpt change one another as one text (`Fit`).
        length: That of the logarithm of the number of terms, and one: of few words more are shared by chance.
    """

    offset: float
    likeness: float = 0.0
    share: float = 0.0
    length: float = 0.0
    interaction: float = 0.0
    chance: float = 0.0
    lead: float = 0.0

    def probability(self, fit: Fit) -> float:
        """Returns how likely it is, 0 to 1."""
        score = self.offset
        score += self.likeness * (fit.likeness or 0.0)
        score += self.share * fit.share
        score += self.length * log1p(fit.terms)
        score += self.interaction * fit.interaction
        score += self.chance * fit.chance
        score += self.lead * fit.lead
        return 1 / (1 + exp(-score))


class Models(NamedTuple):
    """How likely it is that an answer is right.

    Attributes:
        alone: By what is shown, whatever else was found.
        beside: By how far it stands out as well; None where nobody can tell.
        low: How likely what is shown is at least; of less, nothing is.
    """

    alone: Model
    beside: Model | None = None
    low: float = LOW


BY_MEANING = Models(
    alone=Model(offset=-2.36, likeness=3.61, share=2.55, length=0.46, interaction=6.31),
    beside=Model(
        offset=-3.3,
        likeness=1.81,
        share=1.72,
        length=0.63,
        interaction=6.22,
        chance=1.95,
        lead=2.25,
    ),
    low=0.12,
)
BY_WORDS = Models(alone=Model(offset=-1.75, share=4.32))
"""For where no embedder is at hand; by words alone nothing was right often enough to be called high."""

MOST_UNKNOWN = 0.4
"""Where more of a question is in words that stand nowhere in the courses, what is like it speaks of something else."""


def probability(fit: Fit) -> float:
    """Returns how likely it is that the excerpts answer, 0 to 1."""
    return models_for(fit).alone.probability(fit)


def certainty(fit: Fit, models: Models | None = None) -> Certainty:
    """Returns how sure it is that the excerpts answer; `none` for what does not speak to the question.

    Args:
        models: None means those for what is known of the fit.
    """
    if models is None:
        models = models_for(fit)
    likely = models.alone.probability(fit)
    if likely < models.low:
        return "none"
    if likely < MEDIUM:
        return "low"
    if fit.unknown > MOST_UNKNOWN:
        return "low"
    if models.beside is None or fit.is_question:
        return "medium"
    if models.beside.probability(fit) < HIGH:
        return "medium"
    return "high"


def models_for(fit: Fit) -> Models:
    """Returns the models for what is known of the fit."""
    if fit.likeness is None:
        return BY_WORDS
    return BY_MEANING


def least(levels: list[Certainty]) -> Certainty:
    """Returns the lowest of the levels; `none` where there are none."""
    return min(levels, key=LEVELS.index, default="none")
