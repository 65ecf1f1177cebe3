"""When a session that stands still is given up: a rule that counts."""

from __future__ import annotations

from antiphon.vocabulary.events import Event, Recorded, SessionStalled

_MOST_IN_A_ROW = 3
_MOST_IN_ALL = 12
"""A recovery that leads to the next stall, for ever, is no recovery."""


class StallCount:
    """Counts the stalls of one session."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._in_all = 0

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in an event of the trace that the session goes on from."""
        if isinstance(recorded.event, SessionStalled):
            self.stalled()
        else:
            self.moved()

    def moved(self) -> None:
        """Something was said since the last stall."""
        self._in_a_row = 0

    def stalled(self) -> bool:
        """One more stall; True while it is worth telling the components, False when the session is to end."""
        if self._in_a_row >= _MOST_IN_A_ROW or self._in_all >= _MOST_IN_ALL:
            return False
        self._in_a_row += 1
        self._in_all += 1
        return True
