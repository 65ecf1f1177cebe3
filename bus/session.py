"""One query's session: its mailbox, and the loop that delivers events, records them, then starts the work they cause.

docs/design/session.md explains the order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import structlog
from structlog.contextvars import bind_contextvars

from antiphon.bus.delivery import Delivery, in_words
from antiphon.bus.followers import Follower, Followers
from antiphon.bus.mailbox import Mailbox, mark_as_handled
from antiphon.bus.outbox import Outbox
from antiphon.bus.pending import Pending
from antiphon.bus.recorder import Recorder
from antiphon.bus.stalls import StallWatch
from antiphon.bus.work import Work
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.containment import traceback_of
from antiphon.vocabulary.errors import SupersededError, TraceError, UnknownEventError
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryCancelled,
    QueryClosed,
    Recorded,
    RoundOpened,
)
from antiphon.vocabulary.ports import Clock, Ports, Subscription

_log = structlog.get_logger(__name__)

_ROUNDS_A_TURN = 16
"""Rounds of delivery before an append: other sessions get their turn even if components answer each other for ever."""
_HOLD_S = 0.002
"""Seconds after which the rest of the event loop gets a turn; uvloop's own time does not advance within a turn."""

Components = Callable[[Ports], Sequence[Subscription]]
"""Builds the components of one query, which share no state with other queries, and returns their subscriptions."""

Step = tuple[Recorded[Event], Subscription]
"""A handler to call, and the event to call it with: a session that goes on from a trace begins with such steps."""


class Session:
    """One query, from its first event until `QueryClosed` was delivered; `Bus.open` makes it.

    Args:
        components: Builds the components that hear the query's events.
        sessions: The table that holds the session while it is open.
        prefix: The stored events of the query; the session does not deliver them to the components.
        ended: Called with the id once the session is out of the table.
    """

    def __init__(
        self,
        query_id: str,
        recorder: Recorder,
        clock: Clock,
        components: Components,
        sessions: dict[str, Session],
        prefix: Sequence[Recorded[Event]] = (),
        catalog: Catalog = BUILT_IN,
        ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ended = ended
        self.query_id = query_id
        self._recorder = recorder
        self._clock = clock
        self._sessions = sessions
        self._mailbox = Mailbox(
            query_id, clock, len(prefix), prefix[-1].at if prefix else 0.0
        )
        # True while events of a turn may be in the outbox, so that live text must not overtake them.
        self._in_turn = False
        self._closed = False
        self._failure: BaseException | None = None
        self._catalog = catalog
        self._stalls = StallWatch(catalog, prefix)
        self._task: asyncio.Task[None] | None = None
        self._begun: asyncio.Future[TraceError | None] | None = None
        self._followers = Followers(query_id, prefix)
        self._delivery = Delivery(self._on_failure)
        self._work = Work(self._on_failure, self._mailbox.nudge)
        self._outbox = Outbox(
            recorder, self._followers, self._mailbox, told_seq=len(prefix)
        )
        ports = Ports(
            publish=self.publish,
            emit_live=self.emit_live,
            spawn=self._work.spawn,
            followed=self._followers.present,
            stored=self.stored,
            past=self._past,
        )
        self._delivery.subscribe(components(ports))

    def publish(self, event: Event, /) -> None:
        """Puts an event into the mailbox, which accepts nothing more after `QueryClosed`.

        Raises:
            UnknownEventError: The catalog does not hold the event.
        """
        kind = type(event)
        if kind not in self._catalog:
            raise UnknownEventError(
                f"{kind.__name__} was published, and no subscriber declares it: name it in the `events` of yours."
            )
        self._mailbox.post(event)

    def emit_live(self, live: Live, /) -> None:
        """Sends text to live followers, after the events published before it."""
        # With nothing waiting before it there is no order to keep, and text should reach its reader at once.
        if self._followers and (self._mailbox or self._in_turn):
            self._mailbox.queue(live)
        else:
            self._followers.push(live)

    def _past(self) -> Sequence[Recorded[Event]]:
        return [*self._followers.past, *self._outbox.events]

    async def stored(self) -> None:
        """Waits until everything published so far is stored, or the store has refused it."""
        await self._outbox.stored(self._mailbox.last_seq)

    def start(
        self, first: Event, steps: Sequence[Step] = (), *, must_be_stored: bool = False
    ) -> None:
        """Publishes the first event and runs the session in a task of its own.

        Args:
            steps: Handlers to call before anything else is delivered, each as if its event had just been delivered.
            must_be_stored: The session begins only if the first event is stored; `begun` waits for that.

        Raises:
            TraceError: The query is open already.
            UnknownEventError: The catalog does not hold the event.
        """
        if self.query_id in self._sessions:
            raise TraceError(
                f"query {self.query_id} is open already; give each query an id of its own"
            )
        self.publish(first)
        self._sessions[self.query_id] = self
        loop = asyncio.get_running_loop()
        if must_be_stored:
            self._begun = loop.create_future()
        self._task = loop.create_task(self._run(steps), name=f"query {self.query_id}")
        self._task.add_done_callback(self._release)

    async def begun(self) -> None:
        """Waits until the first event is stored, if the session must not begin without that.

        Raises:
            TraceError: The store did not take the event: nothing was done, and nothing is left of the query.
        """
        if self._begun is None:
            return
        await asyncio.wait([self._begun])
        error = self._begun.result()
        if error is not None:
            await self.stopped()
            raise error

    async def run(self, first: Event) -> None:
        """Starts the session and waits for its end; a cancellation ends only the waiting, not the query."""
        self.start(first)
        await self.ended()

    async def drain(self) -> None:
        """Waits for the session's end and raises the first error of a component."""
        await self.ended()
        if self._failure is not None:
            raise self._failure

    def cancel(self, why: str) -> None:
        """Ends the query, with the reason in its trace. A query that is over stays as it is."""
        self.publish(QueryCancelled(why=why))

    def break_off(self) -> None:
        """Ends the session at once; its trace stays open and can be resumed."""
        if self._task is not None and not self._closed:
            self._task.cancel()

    @property
    def cancelling(self) -> bool:
        """True if a `QueryCancelled` was published but not yet delivered: the session is about to end without help."""
        return self._mailbox.holds(QueryCancelled)

    async def stopped(self, within_s: float | None = None) -> None:
        """Waits for the end, at most for `within_s`; errors that ended the session are not raised."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=within_s)

    def follow(self, after: int = 0, buffer: int = 1000) -> Follower:
        """Returns a reader of live text and all events after `after`; it is cut off when `buffer` items are unread.

        Raises:
            NotFoundError: The session has ended.
        """
        return self._followers.follow(after, buffer)

    def pending(self) -> tuple[Pending, ...]:
        """Returns the events that the session owes now, longest owed first."""
        return self._stalls.pending()

    @property
    def emitted(self) -> Sequence[Recorded[Event]]:
        """Everything emitted so far, stored or not, in order."""
        return self._followers.past

    @property
    def recorded(self) -> bool:
        """True if everything emitted so far is stored."""
        return self._recorder.complete and not self._outbox

    @property
    def superseded(self) -> SupersededError | None:
        """The store's refusal if the session ended early because another process has taken its trace over."""
        return self._recorder.superseded

    @property
    def over(self) -> bool:
        """True once `QueryClosed` was delivered, or the session was ended from outside."""
        return self._followers.ended

    async def closed(self) -> None:
        """Waits until `QueryClosed` is delivered; after that the session may still retry events that the store refused.

        If `break_off` ended the session without that event, this raises as `ended` does.

        Raises:
            SupersededError: Another process has taken its trace over.
        """
        await self._followers.wait_for_end()
        if not self._closed:
            await self.ended()
        if self.superseded is not None:
            raise self.superseded

    async def ended(self) -> None:
        """Waits for the end; a cancellation ends only the waiting."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def _run(self, steps: Sequence[Step]) -> None:
        bind_contextvars(query_id=self.query_id)
        try:
            # Repeated work, too, starts only after the first append: another process may be about to resume the same
            # query, and the append lets only one of them in.
            self._work.hold()
            for recorded, subscription in steps:
                mark_as_handled(recorded)
                self._delivery.call(subscription, recorded)
            while not self._ends:
                if self._mailbox:
                    await self._turn()
                elif self._work.running:
                    await self._mailbox.news()
                else:
                    self._mailbox.post(self._stalls.stalled())
        finally:
            # The mailbox first: events of work that is being cancelled must not get into the trace.
            self._mailbox.shut()
            self._followers.end()
            await self._work.stop()
            await self._outbox.store()
            await self._recorder.finish()

    async def _turn(self) -> None:
        """Delivers the mailbox and all immediate answers, stores them in one append, then starts the held work."""
        self._in_turn = True
        self._work.hold()
        await self._deliver_all()
        await self._outbox.store()
        self._in_turn = False
        if self._begun is not None and not self._begun.done():
            self._begun.set_result(await self._recorder.all_or_nothing())
        if not self._ends:
            self._work.release()
        # Other sessions get their turn, even if this one always has more to deliver.
        if self._mailbox:
            await asyncio.sleep(0)

    @property
    def _ends(self) -> bool:
        if self._begun is not None and self._begun.done() and self._begun.result():
            return True
        return self._closed or self.superseded is not None

    async def _deliver_all(self) -> None:
        """Delivers until no component answers any more; then the outbox holds everything that was emitted, in order."""
        now = self._clock.now
        began = now()
        for _ in range(_ROUNDS_A_TURN):
            batch = self._mailbox.take()
            self._outbox.add(batch)
            for item in batch:
                if isinstance(item, Recorded):
                    self._deliver(item)
                if now() - began > _HOLD_S:
                    await asyncio.sleep(0)
                    began = now()
            if not self._mailbox:
                return

    def _deliver(self, recorded: Recorded[Event]) -> None:
        mark_as_handled(recorded)
        self._stalls.hear(recorded)
        if isinstance(recorded.event, RoundOpened):
            bind_contextvars(round=recorded.event.round)
        elif isinstance(recorded.event, QueryClosed):
            self._closed = True
        self._delivery.deliver(recorded)

    def _on_failure(self, handler: str, error: BaseException) -> None:
        """Reports a bug in a component: logs it in full, records it in words, and keeps it for `drain`."""
        if self._failure is None:
            self._failure = error
        _log.error("handler_failed", handler=handler, exception=traceback_of(error))
        self._mailbox.post_failure(handler, in_words(error))

    def _release(self, _task: asyncio.Task[None]) -> None:
        """Releases everything, even if the task was cancelled before it began."""
        if self._begun is not None and not self._begun.done():
            self._begun.set_result(
                TraceError("the service closed before it was stored")
            )
        self._followers.end()
        self._delivery.clear()
        self._work.forget()
        self._mailbox.shut()
        self._stalls.forget()
        self._sessions.pop(self.query_id, None)
        self._ended(self.query_id)
