"""Stores a session's events in order, and outlives a store that refuses for a while."""

from __future__ import annotations

from collections.abc import Sequence

import structlog

from vocabulary.errors import SequenceError, TraceError
from vocabulary.events import Event, Recorded
from vocabulary.ports import Clock, TraceStore

_log = structlog.get_logger(__name__)

_LAST_TRIES_AFTER_S = (0.25, 0.5, 1.0)
"""Waits before the last tries at the end of a query; longer than a store refuses at once after it met a lock."""


class Recorder:
    """One session's hold on the trace store; `stored_seq` is that of the last event stored already."""

    def __init__(self, query_id: str, store: TraceStore, clock: Clock, stored_seq: int = 0) -> None:
        self._query_id = query_id
        self._store = store
        self._clock = clock
        self._stored_seq = stored_seq
        self._unstored: list[Recorded[Event]] = []
        self._dispossessed = False

    async def record(self, events: Sequence[Recorded[Event]]) -> TraceError | None:
        """Stores `events`, and before them those refused earlier; says why it could not, if so."""
        if self._dispossessed:
            return None
        self._unstored.extend(events)
        return await self._store_all()

    async def finish(self) -> None:
        """Tries a few times more to store what was refused; what then remains is lost, and logged."""
        for wait_s in _LAST_TRIES_AFTER_S:
            if not self._unstored:
                return
            await self._clock.sleep(wait_s)
            await self._store_all()
        if self._unstored:
            _log.error("events_lost", first_seq=self._unstored[0].seq, events=len(self._unstored))

    async def _store_all(self) -> TraceError | None:
        try:
            await self._store.append(self._query_id, self._stored_seq, self._unstored)
        except SequenceError as error:
            # Another writer owns the trace: whatever this one added would be false.
            self._dispossessed = True
            self._unstored = []
            _log.error("trace_owned_by_another", error=str(error))
            return error
        except TraceError as error:
            _log.warning("events_not_recorded", error=str(error), events=len(self._unstored))
            return error
        self._stored_seq = self._unstored[-1].seq
        self._unstored = []
        return None
