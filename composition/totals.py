"""What this process has answered so far, in sums: for whatever watches over it."""

from __future__ import annotations

from collections import Counter

from antiphon.composition.caller import Outcome
from antiphon.vocabulary.events import Status
from antiphon.vocabulary.values import Usage


class Totals:
    """Sums over the queries whose outcome was told since the process began."""

    def __init__(self) -> None:
        self.queries: Counter[Status] = Counter()
        self.calls = 0
        self.summaries = 0
        self.seconds = 0.0
        self.usage = Usage()
        self.summary_usage = Usage()

    def add(self, outcome: Outcome) -> None:
        """Counts one more query."""
        self.queries[outcome.status] += 1
        self.calls += outcome.response.calls
        self.seconds += outcome.duration_ms / 1000
        self.usage += outcome.response.usage
        self.summaries += outcome.response.summaries
        self.summary_usage += outcome.response.summary_usage
