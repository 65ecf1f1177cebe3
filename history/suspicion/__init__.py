"""Finds out from a recorded query what may have made its answer a bad one, the likeliest first; pure."""

from antiphon.history.suspicion.ranking import KINDS, Suspect, suspects

__all__ = ["KINDS", "Suspect", "suspects"]
