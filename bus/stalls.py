"""Detects a stalled session, reports the events that it still owes, and ends it after too many stalls."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from antiphon.bus.pending import Pending, PendingTable, fold_pending
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.events import Event, QueryClosed, Recorded, SessionStalled

_log = structlog.get_logger(__name__)

# Without a limit, recoveries that only lead to the next stall would go on for ever.
_MOST_IN_A_ROW = 3
_MOST_IN_ALL = 12


class StallCount:
    """Counts the stalls of one session."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._in_all = 0

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in an event of the trace from which the session goes on."""
        if isinstance(recorded.event, SessionStalled):
            self.may_recover()
        else:
            self.moved()

    def moved(self) -> None:
        """Notes that something was emitted since the last stall."""
        self._in_a_row = 0

    def may_recover(self) -> bool:
        """Counts one more stall; returns False if the session should end instead of trying once more."""
        if self._in_a_row >= _MOST_IN_A_ROW or self._in_all >= _MOST_IN_ALL:
            return False
        self._in_a_row += 1
        self._in_all += 1
        return True


class StallWatch:
    """The pending table of one session and its stalls.

    Args:
        catalog: All events, and what each of them requests.
        prefix: The events of the trace from which the session goes on.
    """

    def __init__(
        self, catalog: Catalog, prefix: Sequence[Recorded[Event]] = ()
    ) -> None:
        self._catalog = catalog
        self._table: PendingTable = {}
        self._stalls = StallCount()
        for recorded in prefix:
            self._table = fold_pending(self._table, recorded, catalog)
            self._stalls.recall(recorded)

    def hear(self, recorded: Recorded[Event]) -> None:
        """Takes in an event that is being delivered."""
        self._table = fold_pending(self._table, recorded, self._catalog)
        if not isinstance(recorded.event, SessionStalled):
            self._stalls.moved()

    def pending(self) -> tuple[Pending, ...]:
        """Returns the events that the session owes now, longest owed first."""
        return tuple(
            sorted(self._table.values(), key=lambda pending: pending.since_seq)
        )

    def stalled(self) -> SessionStalled | QueryClosed:
        """Returns the event that a stalled session emits: the stall, or its end if too many stalls came before."""
        owed = tuple([str(pending) for pending in self.pending()])
        _log.warning("session_stalled", waiting_for=owed)
        if self._stalls.may_recover():
            return SessionStalled(waiting_for=owed)
        return QueryClosed(status="failed")

    def forget(self) -> None:
        """Lets go of everything."""
        self._table = {}
