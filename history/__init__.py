"""Replays, resumes, forks and compares recorded queries."""

from antiphon.exports import exports

__getattr__, __dir__ = exports(__name__, __file__)
