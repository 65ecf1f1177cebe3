"""What a session has yet to deal with, in order; an event gets its place in the trace when it is put in."""

from __future__ import annotations

import asyncio

import structlog

from antiphon.bus.cause import cause_of
from antiphon.bus.followers import Told
from antiphon.vocabulary.events import AnyEvent, Live, QueryClosed, Recorded
from antiphon.vocabulary.ports import Clock

_log = structlog.get_logger(__name__)


class Mailbox:
    """One session's mailbox; it takes nothing after `QueryClosed`, which is a trace's last event.

    Args:
        seq: That of the last event so far, where the session goes on from a trace.
        not_before: Its time: another machine's clock, or one set back, must not make the trace's time run backwards.
    """

    def __init__(self, query_id: str, clock: Clock, seq: int = 0, not_before: float = 0.0) -> None:
        self._query_id = query_id
        self._clock = clock
        self._waiting: list[Told] = []
        self._seq = seq
        self._not_before = not_before
        self._shut = False
        self._news = asyncio.Event()

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def post(self, event: AnyEvent) -> None:
        """Puts an event in; its time is now, its cause the event being handled."""
        if self._shut:
            _log.debug("event_after_close", event_kind=type(event).__name__)
            return
        self._shut = isinstance(event, QueryClosed)
        self._seq += 1
        recorded = Recorded(
            query_id=self._query_id,
            seq=self._seq,
            cause=cause_of(self._query_id),
            at=max(self._clock.now(), self._not_before),
            event=event,
        )
        self._waiting.append(recorded)
        self._news.set()

    def queue(self, live: Live) -> None:
        """Puts in what is not recorded, so that followers get it after the events before it."""
        self._waiting.append(live)
        self._news.set()

    def take(self) -> list[Told]:
        """Everything in it, which it then no longer holds."""
        taken, self._waiting = self._waiting, []
        return taken

    def shut(self) -> None:
        """Takes nothing more and forgets what it has."""
        self._shut = True
        self._waiting = []

    def nudge(self) -> None:
        """Ends a `news` without putting anything in."""
        self._news.set()

    async def news(self) -> None:
        """Returns when something is put in, or at a nudge."""
        self._news.clear()
        await self._news.wait()
