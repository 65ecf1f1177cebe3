"""Stores a session's events in order, and keeps for a while those that the store refuses or is slow to take."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from antiphon.vocabulary.errors import SequenceError, SupersededError, TraceError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Clock, EventLog

_log = structlog.get_logger(__name__)

_LAST_TRIES_AFTER_S = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Pauses between the last attempts at the end of a query, when its caller has the answer already.

Another process that holds the store's lock for some seconds must not cost the query's last events.
"""

APPEND_S = 0.5
"""Seconds that a query waits for one append; the usual one takes less than a thousandth of that."""
GIVE_UP_S = 10.0
"""Seconds after which an unfinished append is repeated: perhaps the store took the events, and its reply was lost."""

FIRST_APPEND_S = 1.5
"""Further seconds that a query which must not begin unstored waits for its first append."""

_BEHIND_S = 0.25
"""Seconds of lateness from which the event loop is overloaded, or its process gets too little of the processor."""


class Recorder:
    """The connection of one session to the trace store; `stored_seq` is the `seq` of the last event stored already.

    A slow append most likely succeeds in the end, so the recorder does not give it up: the query goes on meanwhile, and
    the events that it emits are stored after it.
    """

    def __init__(
        self,
        query_id: str,
        store: EventLog,
        clock: Clock,
        stored_seq: int = 0,
    ) -> None:
        self._query_id = query_id
        self._store = store
        self._clock = clock
        self._stored_seq = stored_seq
        self._unstored: list[Recorded[Event]] = []
        self._append: asyncio.Task[int] | None = None
        self._patience_s = APPEND_S
        self._usual_patience_s = APPEND_S
        self._give_up_at = 0.0
        # True once nothing more may be stored: another writer owns the trace, or the query must not begin.
        self._dispossessed = False
        self._superseded: SupersededError | None = None
        # True after an append of unknown outcome: an end beyond the known one may then be this session's own.
        self._uncertain = False
        self._refusal: TraceError | None = None

    @property
    def complete(self) -> bool:
        """True if every event handed in is stored."""
        return not (self._unstored or self._dispossessed)

    @property
    def superseded(self) -> SupersededError | None:
        """The store's refusal, once another writer has taken the trace over for good."""
        return self._superseded

    async def record(self, events: Sequence[Recorded[Event]]) -> TraceError | None:
        """Stores `events`, after any that are not stored yet; returns the store's error if it does not take them."""
        if self._dispossessed:
            return None
        self._unstored.extend(events)
        self._refusal = await self._store_all()
        return self._refusal

    async def all_or_nothing(self) -> TraceError | None:
        """Waits a little longer for a slow append; drops the events that are still not stored, and returns the error.

        For the first events of a query that must not begin unstored: nothing has acted on them yet.
        """
        if self._append is not None:
            self._patience_s = FIRST_APPEND_S
            self._refusal = await self._store_all()
        if self.complete:
            return None
        if self._append is not None:
            self._append.cancel()
        self._append = None
        self._unstored = []
        self._dispossessed = True
        return self._refusal or TraceError("the trace store did not take it")

    async def finish(self) -> None:
        """Waits for a slow append, and retries refused events a few times; those that then remain are lost."""
        # No caller waits any more, so appends get more time: if a thousand queries end at once they are all slow.
        self._usual_patience_s = GIVE_UP_S
        for wait_s in _LAST_TRIES_AFTER_S:
            if not self._unstored:
                return
            if self._append is None:
                await self._clock.sleep(wait_s)
                self._patience_s = GIVE_UP_S
            else:
                self._patience_s = max(0.0, self._give_up_at - self._clock.now())
            await self._store_all()
            # This is the repeated append, and it does not end either.
            if self._append is not None:
                self._append.cancel()
                break
        if self._unstored:
            _log.error(
                "events_lost",
                first_seq=self._unstored[0].seq,
                events=len(self._unstored),
            )

    async def _store_all(self) -> TraceError | None:
        """Appends until everything is stored, or the store refuses or takes too long for one append."""
        while self._unstored:
            if self._append is None:
                self._append = asyncio.create_task(self._append_all(), name="append")
                self._give_up_at = self._clock.now() + GIVE_UP_S
            began = self._clock.now()
            await asyncio.wait({self._append}, timeout=self._patience_s)
            late_s = self._clock.now() - began - self._patience_s
            if self._append.done():
                append, self._append = self._append, None
                error = self._note_end(append)
            else:
                error = self._note_slow(self._append, late_s)
            if error is not None:
                return error
        return None

    def _note_slow(self, append: asyncio.Task[int], late_s: float) -> TraceError | None:
        """Gives up an append that most likely never ends; returns an error for one that may still end.

        Args:
            late_s: Delay of the event loop itself: if the loop is behind, so are appends, and the store may be well.
        """
        if late_s > _BEHIND_S:
            self._give_up_at = self._clock.now() + GIVE_UP_S
            if self._usual_patience_s == GIVE_UP_S:
                self._patience_s = GIVE_UP_S
                return None
        if self._clock.now() >= self._give_up_at:
            append.cancel()
            self._append = None
            self._uncertain = True
            self._patience_s = APPEND_S
            return None
        # One wait is enough: a query cannot wait for a slow store at every turn.
        self._patience_s = 0.0
        _log.warning("append_is_slow", events=len(self._unstored))
        return TraceError(f"the trace store took longer than {APPEND_S:g} s")

    async def _append_all(self) -> int:
        """Appends all events that are not stored, at once; returns the `seq` of the last."""
        events = tuple(self._unstored)
        await self._store.append(self._query_id, self._stored_seq, events)
        return events[-1].seq

    def _note_end(self, append: asyncio.Task[int]) -> TraceError | None:
        """Notes the outcome of an append; returns the error if the store refused it."""
        if append.cancelled():
            self._uncertain = True
            return TraceError("the append was cancelled within the trace store")
        error = append.exception()
        if error is None:
            self._note_stored(append.result())
            return None
        if isinstance(error, SequenceError):
            return self._after_another_end(error)
        if not isinstance(error, TraceError):
            raise error
        _log.warning(
            "events_not_recorded", error=str(error), events=len(self._unstored)
        )
        return error

    def _note_stored(self, seq: int) -> None:
        self._stored_seq = seq
        # The store has recovered: later events are stored again before anything acts on them.
        self._patience_s = self._usual_patience_s
        self._unstored = [each for each in self._unstored if each.seq > seq]

    def _after_another_end(self, error: SequenceError) -> SequenceError | None:
        """Goes on after the end that the store found, if it is this session's; else leaves the trace to its owner."""
        if isinstance(error, SupersededError):
            self._superseded = error
        elif self._take_as_stored(error.found_seq):
            return None
        # Any event that this session added to another writer's trace would be false.
        self._dispossessed = True
        self._unstored = []
        _log.error("trace_owned_by_another", error=str(error))
        return error

    def _take_as_stored(self, found_seq: int) -> bool:
        """Counts events as stored that an append of unknown outcome did store; returns False if there are none."""
        if (
            not self._uncertain
            or not self._stored_seq < found_seq <= self._unstored[-1].seq
        ):
            return False
        self._uncertain = False
        self._note_stored(found_seq)
        return True
