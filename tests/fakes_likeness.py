"""A likeness of meaning from given numbers, for tests that need no embedder."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from antiphon.language.evidence import Likeness

MIDDLING = -0.15
"""An interaction halfway between most answers (-0.07) and most excerpts that answer nothing (-0.24)."""


def all_alike(cosine: float, interaction: float = MIDDLING) -> Likeness:
    """Returns a likeness that is the same for all texts, except that a text that begins with the question is closer.

    Args:
        interaction: How far the rest of such a text pulls it away from the question (`Fit.interaction`).
    """

    def likeness(asked: str, texts: Sequence[str]) -> Sequence[float]:
        found: list[float] = []
        for text in texts:
            if text.startswith(f"{asked} "):
                # The length of the rest, without the space.
                said = len(text) - len(asked) - 1
                found.append(_of_mean(len(asked), said, cosine) - interaction)
            else:
                found.append(cosine)
        return found

    return likeness


def _of_mean(asked: int, said: int, cosine: float) -> float:
    """Returns the likeness of a question to the mean of its vector and another one, weighted by length."""
    length = sqrt(asked**2 + said**2 + 2 * asked * said * cosine)
    return (asked + said * cosine) / length
