"""Finds the possible causes of a bad answer in a recorded query, the likeliest first; pure."""

from antiphon.history.suspicion.ranking import KINDS, Suspect, suspects

__all__ = ["KINDS", "Suspect", "suspects"]
