"""Measures how long tools took lately, across queries, to judge whether starting them early is worthwhile."""

from __future__ import annotations

from collections import deque

from antiphon.vocabulary.events import ToolFailed, ToolSucceeded

_RUNS = 16
"""Number of recent runs that predict the next ones."""
QUICK_MS = 50.0
"""Early dispatch can save a call no more than a tool's mean run. So little goes unnoticed next to a reply that takes
seconds to write."""


class ToolTimes:
    """The durations of the last tool runs, across queries; one per process."""

    def __init__(self) -> None:
        self._last_ms: deque[float] = deque(maxlen=_RUNS)

    def note(self, outcome: ToolSucceeded | ToolFailed) -> None:
        """Notes the duration of a run, successful or not."""
        self._last_ms.append(outcome.duration_ms)

    @property
    def are_quick(self) -> bool:
        """True if starting the next tools early would gain nothing; False until enough runs are known."""
        if len(self._last_ms) < _RUNS:
            return False
        return sum(self._last_ms) / _RUNS <= QUICK_MS
