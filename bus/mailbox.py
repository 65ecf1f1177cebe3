"""A session's mailbox: an event gets its place in the trace, its time and its cause when it is put in."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import structlog

from antiphon.bus.followers import FollowerItem
from antiphon.vocabulary.events import (
    Event,
    HandlerFailed,
    Live,
    QueryClosed,
    Recorded,
    SessionStalled,
)
from antiphon.vocabulary.ports import Clock

_log = structlog.get_logger(__name__)

# A context variable, because tasks inherit it: spawned work knows the event that it came from.
_handled: ContextVar[Recorded[Event] | None] = ContextVar("handled_event", default=None)


def mark_as_handled(recorded: Recorded[Event]) -> None:
    """Marks the event as the cause of all events that this context, or a copy of it, publishes from here on."""
    _handled.set(recorded)


def handled_seq() -> int:
    """Returns the `seq` of the event being handled here, or that the work running here came from; 0 for none."""
    recorded = _handled.get()
    if recorded is None:
        return 0
    return recorded.seq


def cause_of(query_id: str) -> int:
    """Returns the `seq` of this query's event that is being handled; 0 if the cause lies outside the query."""
    recorded = _handled.get()
    # A handler of one query may publish into another, in which its event's number means nothing.
    if recorded is None or recorded.query_id != query_id:
        return 0
    return recorded.seq


def is_handling_a_failure() -> bool:
    """Returns True if the event being handled reports a failure itself."""
    recorded = _handled.get()
    return recorded is not None and isinstance(
        recorded.event, HandlerFailed | SessionStalled
    )


class Mailbox:
    """The items that a session has yet to deliver, in order; nothing is taken after `QueryClosed`, the last event.

    Args:
        seq: The `seq` of the last event so far, if the session goes on from a trace.
        not_before: Its time: another machine's clock, or one set back, must not make the trace's time run backwards.
    """

    def __init__(
        self, query_id: str, clock: Clock, seq: int = 0, not_before: float = 0.0
    ) -> None:
        self._query_id = query_id
        self._clock = clock
        self._items: list[FollowerItem] = []
        self._seq = seq
        self._not_before = not_before
        self._shut = False
        self._waiter: asyncio.Future[None] | None = None

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def last_seq(self) -> int:
        """The `seq` of the last event that was put in."""
        return self._seq

    def post(self, event: Event) -> None:
        """Adds an event; its time is now, and its cause is the event being handled."""
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
        self._items.append(recorded)
        self.nudge()

    def post_failure(self, handler: str, error: str) -> None:
        """Adds the report that a handler failed at the event being handled."""
        # A component that fails on every report of a failure would otherwise cause reports for ever.
        if not is_handling_a_failure():
            seq = cause_of(self._query_id)
            self.post(HandlerFailed(handler=handler, error=error, event_seq=seq))

    def queue(self, live: Live) -> None:
        """Adds live text, so that followers get it after the events before it."""
        self._items.append(live)
        self.nudge()

    def holds(self, kind: type[Event]) -> bool:
        """Returns True if an event of that kind is waiting."""
        return any(
            isinstance(item, Recorded) and isinstance(item.event, kind)
            for item in self._items
        )

    def take(self) -> list[FollowerItem]:
        """Empties it and returns its items."""
        taken = self._items
        self._items = []
        return taken

    def shut(self) -> None:
        """Drops all items and accepts no more."""
        self._shut = True
        self._items = []

    def nudge(self) -> None:
        """Lets `news` return without adding anything."""
        # A future, because an `asyncio.Event` takes 0.8 KiB in every query.
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def news(self) -> None:
        """Returns when something is added, or at a nudge; one task waits at a time."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
