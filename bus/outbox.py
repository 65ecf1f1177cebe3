"""The events that a session has emitted but not yet shown: it stores them in one append, then followers get them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.bus.delivery import in_words
from antiphon.bus.followers import FollowerItem, Followers
from antiphon.bus.mailbox import Mailbox
from antiphon.bus.recorder import Recorder
from antiphon.vocabulary.events import Event, Recorded, RecordingFailed


class _Waiting(NamedTuple):
    seq: int
    told: asyncio.Future[None]


class Outbox:
    """Holds emitted events and live text until the events are stored.

    Args:
        mailbox: Gets a `RecordingFailed` if the store refuses.
        told_seq: The `seq` of the last event that is stored already.
    """

    def __init__(
        self,
        recorder: Recorder,
        followers: Followers,
        mailbox: Mailbox,
        told_seq: int = 0,
    ) -> None:
        self._recorder = recorder
        self._followers = followers
        self._mailbox = mailbox
        self._items: list[FollowerItem] = []
        self._failed = False
        self._told_seq = told_seq
        self._waiting: list[_Waiting] = []

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def events(self) -> Sequence[Recorded[Event]]:
        """The events that wait to be stored."""
        return [item for item in self._items if isinstance(item, Recorded)]

    def add(self, items: Sequence[FollowerItem]) -> None:
        """Appends items."""
        self._items += items

    async def store(self) -> None:
        """Stores all events and shows everything to followers; the first refusal of the store becomes an event."""
        events = self.events
        items, self._items = self._items, []
        await self._record(events)
        # Another process owns the trace: these events are in no trace, so nothing may act on them or show them.
        if self._recorder.superseded:
            return
        # After the append: a follower sees nothing that a crash could still undo.
        for item in items:
            self._followers.push(item)
            if isinstance(item, Recorded):
                self._told_seq = item.seq
        self._tell_waiting()

    async def stored(self, seq: int) -> None:
        """Waits until the event with this `seq` was stored, or the store has refused it."""
        if seq <= self._told_seq:
            return
        waiting = _Waiting(seq, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        try:
            await waiting.told
        finally:
            self._waiting.remove(waiting)

    def _tell_waiting(self) -> None:
        for waiting in self._waiting:
            if waiting.seq <= self._told_seq and not waiting.told.done():
                waiting.told.set_result(None)

    async def _record(self, events: Sequence[Recorded[Event]]) -> None:
        if not events:
            return
        error = await self._recorder.record(events)
        # Once is enough: the event only lets the answer say that its trace is incomplete.
        if error is not None and not self._failed:
            self._failed = True
            self._mailbox.post(RecordingFailed(detail=in_words(error)))
