"""Stores a session's events in order, and keeps those that the store refuses for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from antiphon.vocabulary.errors import SequenceError, TraceError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Clock, EventLog

_log = structlog.get_logger(__name__)

_LAST_TRIES_AFTER_S = (0.25, 0.5, 1.0)
"""Waits before the last tries at the end of a query; longer than a locked store refuses every append at once."""

APPEND_S = 0.5
"""Seconds that one append may take; the usual one takes less than a thousandth of that."""
REST_S = 10.0
"""Seconds for which a store that took too long is left alone."""


class Recorder:
    """The connection of one session to the trace store; `stored_seq` is that of the last event stored already."""

    def __init__(
        self, query_id: str, store: EventLog, clock: Clock, stored_seq: int = 0
    ) -> None:
        self._query_id = query_id
        self._store = store
        self._clock = clock
        self._stored_seq = stored_seq
        self._unstored: list[Recorded[Event]] = []
        self._dispossessed = False
        self._resting_until = 0.0
        self._uncertain = False

    @property
    def complete(self) -> bool:
        """True if everything that was to be stored is."""
        return not (self._unstored or self._dispossessed)

    async def record(self, events: Sequence[Recorded[Event]]) -> TraceError | None:
        """Stores `events`, and before them those refused earlier; returns the error if the store refuses them."""
        if self._dispossessed:
            return None
        self._unstored.extend(events)
        return await self._store_all()

    async def finish(self) -> None:
        """Tries a few times more to store the refused events; those that then remain are lost, and logged."""
        for wait_s in _LAST_TRIES_AFTER_S:
            if not self._unstored:
                return
            await self._clock.sleep(wait_s)
            await self._store_all()
        if self._unstored:
            _log.error(
                "events_lost",
                first_seq=self._unstored[0].seq,
                events=len(self._unstored),
            )

    async def _store_all(self) -> TraceError | None:
        # Each try may take `APPEND_S`, which a query cannot spend at every turn.
        if self._clock.now() < self._resting_until:
            return TraceError(
                "the trace store took too long a moment ago and is left alone for a while"
            )
        try:
            await self._append()
        except SequenceError as error:
            if self._take_as_stored(error.found_seq):
                if self._unstored:
                    return await self._store_all()
                return None
            # Another writer owns the trace: whatever this one added would be false.
            self._dispossessed = True
            self._unstored = []
            _log.error("trace_owned_by_another", error=str(error))
            return error
        except TraceError as error:
            _log.warning(
                "events_not_recorded", error=str(error), events=len(self._unstored)
            )
            return error
        self._stored_seq = self._unstored[-1].seq
        self._unstored = []
        return None

    async def _append(self) -> None:
        """Makes one append, bounded in time: the query waits for it, and its caller for the query.

        Raises:
            TraceError: It was refused, took too long, or was cancelled within the store.
        """
        try:
            async with asyncio.timeout(APPEND_S):
                await self._store.append(
                    self._query_id, self._stored_seq, self._unstored
                )
        except TimeoutError as error:
            self._uncertain = True
            self._resting_until = self._clock.now() + REST_S
            raise TraceError(
                f"the trace store took longer than {APPEND_S:g} s"
            ) from error
        except asyncio.CancelledError as error:
            # A store that cancels itself is a failure of the store; only this task's own cancelling ends the session.
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            self._uncertain = True
            raise TraceError(
                "the append was cancelled within the trace store"
            ) from error

    def _take_as_stored(self, found_seq: int) -> bool:
        """Takes events as stored that an append of unknown outcome did store; returns False if there are none."""
        if (
            not self._uncertain
            or not self._stored_seq < found_seq <= self._unstored[-1].seq
        ):
            return False
        self._uncertain = False
        self._stored_seq = found_seq
        self._unstored = [
            recorded for recorded in self._unstored if recorded.seq > found_seq
        ]
        return True
