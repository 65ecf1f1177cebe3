"""Stores a session's events in order, and keeps those that the store refuses, or is slow to take, for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from antiphon.vocabulary.errors import SequenceError, SupersededError, TraceError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Clock, EventLog

_log = structlog.get_logger(__name__)

_LAST_TRIES_AFTER_S = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Waits before the last tries at the end of a query, when its caller has the answer already.

Another process that holds the store's lock for some seconds must not cost the end of a query.
"""

APPEND_S = 0.5
"""Seconds that a query waits for one append; the usual one takes less than a thousandth of that."""
GIVE_UP_S = 10.0
"""Seconds after which an append that has not ended is made again: its end may have been lost, and not its events."""

FIRST_APPEND_S = 1.5
"""Seconds more that a query which must not begin unstored waits for its first append."""

_BEHIND_S = 0.25
"""A loop that is so late has more to do than it can, or its process gets no processor."""


class Recorder:
    """The connection of one session to the trace store; `stored_seq` is that of the last event stored already.

    An append that takes long is not given up, for it is most likely stored all the same: the query goes on beside it,
    and whatever is emitted meanwhile is stored after it.
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
        self._dispossessed = False
        self._superseded: SupersededError | None = None
        self._uncertain = False
        self._refusal: TraceError | None = None

    @property
    def complete(self) -> bool:
        """True if everything that was to be stored is."""
        return not (self._unstored or self._dispossessed)

    @property
    def superseded(self) -> SupersededError | None:
        """The store's refusal, once another writer has taken the trace over for good."""
        return self._superseded

    async def record(self, events: Sequence[Recorded[Event]]) -> TraceError | None:
        """Stores `events`, and before them those that are not stored yet; returns why not, if the store does not."""
        if self._dispossessed:
            return None
        self._unstored.extend(events)
        self._refusal = await self._store_all()
        return self._refusal

    async def all_or_nothing(self) -> TraceError | None:
        """Waits a little longer for a slow append; drops what is not stored then, and returns why it is not.

        For the first events of a query that must not begin unstored: nobody has acted on them yet.
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
        """Waits for a slow append, and tries refused events a few times more; those that then remain are lost."""
        # Nobody waits for what comes after a slow append either: if a thousand queries end at once it is slow too.
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
            # It was made again after it had not ended, and does not end either.
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
        """Gives up an append that most likely never ends; returns an error for one that may.

        Args:
            late_s: How late the event loop came back to this: if it is behind, appends are, and the store is well.
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
        # Waiting once is enough: a query cannot wait for its store at every turn.
        self._patience_s = 0.0
        _log.warning("append_is_slow", events=len(self._unstored))
        return TraceError(f"the trace store took longer than {APPEND_S:g} s")

    async def _append_all(self) -> int:
        """Makes one append of all that is not stored; returns the `seq` of its last event."""
        events = tuple(self._unstored)
        await self._store.append(self._query_id, self._stored_seq, events)
        return events[-1].seq

    def _note_end(self, append: asyncio.Task[int]) -> TraceError | None:
        """Notes what became of an append; returns why it was refused, if it was."""
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
        # The store has recovered: what comes next is stored again before anything acts on it.
        self._patience_s = self._usual_patience_s
        self._unstored = [each for each in self._unstored if each.seq > seq]

    def _after_another_end(self, error: SequenceError) -> SequenceError | None:
        """Goes on after the end that was found, if it is our own; otherwise leaves the trace to its owner."""
        if isinstance(error, SupersededError):
            self._superseded = error
        elif self._take_as_stored(error.found_seq):
            return None
        # Whatever this one added to another writer's trace would be false.
        self._dispossessed = True
        self._unstored = []
        _log.error("trace_owned_by_another", error=str(error))
        return error

    def _take_as_stored(self, found_seq: int) -> bool:
        """Takes events as stored that an append of unknown outcome did store; returns False if there are none."""
        if (
            not self._uncertain
            or not self._stored_seq < found_seq <= self._unstored[-1].seq
        ):
            return False
        self._uncertain = False
        self._note_stored(found_seq)
        return True
