"""How long tools took lately, across queries: it tells what starting them early can gain."""

from __future__ import annotations

from collections import deque

from antiphon.vocabulary.events import ToolFailed, ToolSucceeded

_RUNS = 16
"""Runs that tell of the next ones."""
QUICK_MS = 50.0
"""The mean run of a tool is the most that early dispatch gains a call. So little is not noticed beside a reply that
takes seconds to be written."""


class ToolTimes:
    """How long the last runs of tools took, across queries. One a process."""

    def __init__(self) -> None:
        self._last_ms: deque[float] = deque(maxlen=_RUNS)

    def note(self, outcome: ToolSucceeded | ToolFailed) -> None:
        """Notes a run that has ended, whatever came of it."""
        self._last_ms.append(outcome.duration_ms)

    @property
    def are_quick(self) -> bool:
        """True if starting the next tools early would gain nothing; False while too few runs are known."""
        if len(self._last_ms) < _RUNS:
            return False
        return sum(self._last_ms) / _RUNS <= QUICK_MS
