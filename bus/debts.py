"""Who owes what in one session, and what is said when it stands still."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import structlog

from antiphon.bus.stall import StallCount
from antiphon.bus.waiters import Table, Waiting, fold
from antiphon.vocabulary.events import Event, QueryClosed, Recorded, SessionStalled

_log = structlog.get_logger(__name__)


class Debts:
    """The waiter table of a session and its stalls, from the events of the trace that it goes on from."""

    def __init__(self, prefix: Sequence[Recorded[Event]] = ()) -> None:
        self._table: Table = reduce(fold, prefix, {})
        self._stalls = StallCount()
        for recorded in prefix:
            self._stalls.recall(recorded)

    def heard(self, recorded: Recorded[Event]) -> None:
        """Takes in an event that is being delivered."""
        self._table = fold(self._table, recorded)
        if not isinstance(recorded.event, SessionStalled):
            self._stalls.moved()

    def waiting(self) -> tuple[Waiting, ...]:
        """Who owes which event now, longest owed first."""
        return tuple(sorted(self._table.values(), key=lambda waiting: waiting.since_seq))

    def stalled(self) -> SessionStalled | QueryClosed:
        """What a session says that stands still: that it does, or its end when saying so has not helped."""
        owed = tuple(str(waiting) for waiting in self.waiting())
        _log.warning("session_stalled", waiting_for=owed)
        return SessionStalled(waiting_for=owed) if self._stalls.stalled() else QueryClosed(status="failed")

    def forget(self) -> None:
        """Lets go of everything."""
        self._table = {}
