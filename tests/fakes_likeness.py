"""A likeness of meaning by numbers, for what an embedder is too much."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from antiphon.language.evidence import Likeness

MIDDLING = -0.15
"""An interaction between that of most answers (-0.07) and that of most excerpts that answer nothing (-0.24)."""


def all_alike(cosine: float, interaction: float = MIDDLING) -> Likeness:
    """Returns a likeness by which each text is as like to a question; one that begins with the question is liker.

    Args:
        interaction: How far such a text is drawn away from the question by the rest of it (`Fit.interaction`).
    """

    def likeness(asked: str, texts: Sequence[str]) -> Sequence[float]:
        found: list[float] = []
        for text in texts:
            if text.startswith(f"{asked} "):
                # The rest of the text, without the space.
                said = len(text) - len(asked) - 1
                found.append(_of_mean(len(asked), said, cosine) - interaction)
            else:
                found.append(cosine)
        return found

    return likeness


def _of_mean(asked: int, said: int, cosine: float) -> float:
    """Returns how like a question is to the mean of its vector and another one, by their weights."""
    length = sqrt(asked**2 + said**2 + 2 * asked * said * cosine)
    return (asked + said * cosine) / length
