"""One query's session: its mailbox, and the loop that delivers, records, then lets act (decision 070)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog
from structlog.contextvars import bind_contextvars

from antiphon.bus.cause import cause_of, handle, mends_a_failure
from antiphon.bus.debts import Debts
from antiphon.bus.delivery import Delivery
from antiphon.bus.failure import in_words
from antiphon.bus.followers import Follower, Followers, Told
from antiphon.bus.mailbox import Mailbox
from antiphon.bus.ports import Components, Ports, Step
from antiphon.bus.recorder import Recorder
from antiphon.bus.waiters import Waiting
from antiphon.bus.work import Work
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.events import (
    AnyEvent,
    Event,
    HandlerFailed,
    Live,
    QueryClosed,
    Recorded,
    RecordingFailed,
    RoundOpened,
)
from antiphon.vocabulary.ports import Clock

_log = structlog.get_logger(__name__)

_ROUNDS_A_TURN = 16
"""Deliveries without a pause; then other sessions get theirs, even where components answer one another for ever."""


class Session:
    """One query, from its first event until `QueryClosed` was delivered; made by `Bus.open`.

    Args:
        recorder: Stores its events.
        components: Builds who hears them.
        sessions: Where the session stands while it is open.
        prefix: What is stored of the query already; the components are told nothing of it here.
    """

    def __init__(
        self,
        query_id: str,
        recorder: Recorder,
        clock: Clock,
        components: Components,
        sessions: dict[str, Session],
        prefix: Sequence[Recorded[Event]] = (),
    ) -> None:
        self.query_id = query_id
        self._recorder = recorder
        self._sessions = sessions
        self._mailbox = Mailbox(query_id, clock, len(prefix), prefix[-1].at if prefix else 0.0)
        self._in_turn = False
        self._closed = False
        self._over = asyncio.Event()
        self._recording_failed = False
        self._failure: BaseException | None = None
        self._debts = Debts(prefix)
        self._task: asyncio.Task[None] | None = None
        self._followers = Followers(query_id, prefix)
        self._delivery = Delivery(self._failed)
        self._work = Work(self._failed, self._mailbox.nudge)
        self._delivery.subscribe(components(Ports(publish=self.publish, tell=self.tell, spawn=self._work.spawn)))

    def publish(self, event: AnyEvent, /) -> None:
        """Puts an event into the mailbox; after `QueryClosed` nothing more is taken.

        Raises:
            UnheardEventError: No component hears it.
        """
        if not isinstance(event, QueryClosed):
            self._delivery.check_heard(event)
        self._mailbox.post(event)

    def tell(self, live: Live, /) -> None:
        """Tells live followers, after the events published before it."""
        if self._followers and (self._mailbox or self._in_turn):
            self._mailbox.queue(live)
        else:
            self._followers.tell(live)

    def start(self, first: AnyEvent, steps: Sequence[Step] = ()) -> None:
        """Publishes the first event and lets the session run by itself.

        Args:
            steps: Handlers to call after it, each as if the event beside it had just been delivered.

        Raises:
            TraceError: The query is open already.
            UnheardEventError: No component hears the event.
        """
        if self.query_id in self._sessions:
            raise TraceError(f"query {self.query_id} is open already; give each query an id of its own")
        self.publish(first)
        self._sessions[self.query_id] = self
        self._task = asyncio.get_running_loop().create_task(self._run(steps), name=f"query {self.query_id}")
        self._task.add_done_callback(self._release)

    async def run(self, first: AnyEvent) -> None:
        """Starts the session and waits for its end; cancelled, only the waiting ends, not the query."""
        self.start(first)
        await self.ended()

    async def drain(self) -> None:
        """Waits until nothing is left to do, which ends the session, and raises again what a component raised first."""
        await self.ended()
        if self._failure is not None:
            raise self._failure

    def cancel(self) -> None:
        """Ends the session where it stands; its trace stays open and can be resumed."""
        if self._task is not None and not self._closed:
            self._task.cancel()

    async def stopped(self) -> None:
        """Waits for the end, in whatever way it comes."""
        if self._task is not None:
            await asyncio.wait([self._task])

    def follow(self, buffer: int = 1000) -> Follower:
        """Everything said so far and from here on; cut off when `buffer` items wait to be read.

        Raises:
            NotFoundError: The session has ended.
        """
        return self._followers.follow(buffer)

    def waiting(self) -> tuple[Waiting, ...]:
        """Who owes which event now, longest owed first."""
        return self._debts.waiting()

    @property
    def said(self) -> Sequence[Recorded[Event]]:
        """Everything said so far, stored or not, in order."""
        return self._followers.past

    @property
    def recorded(self) -> bool:
        """Whether everything said so far is stored."""
        return self._recorder.complete

    @property
    def over(self) -> bool:
        """Whether its end was delivered, or it was ended from outside."""
        return self._over.is_set()

    async def closed(self) -> None:
        """Waits for `QueryClosed` to be delivered; what was refused by the store may still be tried again then.

        Ended without it, by `cancel`, the session raises as `ended` does.
        """
        await self._over.wait()
        if not self._closed:
            await self.ended()

    async def ended(self) -> None:
        """Waits for the end; cancelled, only the waiting ends."""
        if self._task is not None:
            await asyncio.shield(self._task)

    async def _run(self, steps: Sequence[Step]) -> None:
        bind_contextvars(query_id=self.query_id)
        try:
            for recorded, handler in steps:
                handle(recorded)
                self._delivery.call(handler, recorded)
            while not self._closed:
                if self._mailbox:
                    await self._turn()
                elif self._work.running:
                    await self._mailbox.news()
                else:
                    self._mailbox.post(self._debts.stalled())
        finally:
            self._over.set()
            self._mailbox.shut()
            self._followers.end()
            await self._work.stop()
            await self._recorder.finish()

    async def _turn(self) -> None:
        """Delivers what waits and what is said to it at once, stores it all as one append, and then lets it act."""
        self._in_turn = True
        told = self._deliver_all()
        await self._record([each for each in told if isinstance(each, Recorded)])
        for each in told:
            self._followers.tell(each)
        self._in_turn = False
        if not self._closed:
            self._work.release()
        if self._mailbox:
            await asyncio.sleep(0)

    def _deliver_all(self) -> list[Told]:
        """Delivers until nobody answers any more; all that was told, in order."""
        self._work.hold()
        told: list[Told] = []
        for _ in range(_ROUNDS_A_TURN):
            batch = self._mailbox.take()
            told += batch
            for each in batch:
                if isinstance(each, Recorded):
                    self._deliver(each)
            if not self._mailbox:
                break
        return told

    async def _record(self, events: list[Recorded[Event]]) -> None:
        error = await self._recorder.record(events) if events else None
        if error is not None and not self._recording_failed:
            self._recording_failed = True
            self._mailbox.post(RecordingFailed(detail=in_words(error)))

    def _deliver(self, told: Recorded[Event]) -> None:
        handle(told)
        self._debts.heard(told)
        match told.event:
            case RoundOpened(round=number):
                bind_contextvars(round=number)
            case QueryClosed():
                self._closed = True
        self._delivery.deliver(told)

    def _failed(self, handler: str, error: BaseException) -> None:
        """A bug in a component: logged whole, recorded in words, kept for `drain`."""
        self._failure = self._failure or error
        _log.error("handler_failed", handler=handler, exc_info=error)
        if not mends_a_failure():
            seq = cause_of(self.query_id)
            self._mailbox.post(HandlerFailed(handler=handler, error=in_words(error), event_seq=seq))

    def _release(self, _task: asyncio.Task[None]) -> None:
        """Lets go of everything, also where the task was cancelled before it began."""
        self._over.set()
        self._followers.end()
        self._delivery.clear()
        self._mailbox.shut()
        self._debts.forget()
        self._sessions.pop(self.query_id, None)
