"""Stands in a session for a component that acts in another process: passes on what it hears, publishes what comes back.

To the session nothing is different: what a request led to is a task of the session as long as it is under way, and what
it published has the request as its cause. A process that is lost is replaced by another one, which takes in what
happened so far and repeats what is owed, as a query does that is resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import NamedTuple

import structlog
from msgspec.structs import replace

from antiphon import cluster
from antiphon.bus import PendingTable, fold_pending
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import RemoteError, ServiceError
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import Ports

log = structlog.get_logger(__name__)

MOST_TRIES = 2
"""Processes in which one request is tried: a call that ends its process must not end all of them in turn."""
BEATS = 4
"""Looks at the lease, and signs of life, in the time that it lasts."""


class _Request(NamedTuple):
    """An event to pass on; `repeat` where it was acted on before."""

    recorded: Recorded[Event]
    repeat: bool


class StandIn:
    """Stands for one component in one session.

    Args:
        link: The way to the processes in which it acts.
        kinds: The events that it hears.
        emits: The events that it may publish; others are refused.
    """

    def __init__(
        self,
        link: cluster.RemoteLink,
        place: cluster.Place,
        ports: Ports,
        catalog: Catalog,
        kinds: tuple[type[Event], ...],
        emits: tuple[type[Event], ...],
    ) -> None:
        self._link = link
        self._place = place
        self._ports = ports
        self._catalog = catalog
        self._kinds = kinds
        self._emits = emits
        self._query_id = ""
        self._past: list[Recorded[Event]] = []
        self._owed: PendingTable = {}
        self._requests: dict[int, _Request] = {}
        self._contexts: dict[int, Context] = {}
        self._tries: dict[int, int] = {}
        self._open: dict[int, asyncio.Future[str]] = {}
        self._outbox: list[_Request] = []
        self._news = asyncio.Event()
        self._lease: cluster.Lease | None = None
        self._stop_link: Callable[[], object] | None = None

    def recall(self, recorded: Recorded[Event]) -> None:
        """Takes in an event from before the query was interrupted."""
        if isinstance(recorded.event, self._kinds):
            self._requests[recorded.seq] = _Request(recorded, True)
        self._note(recorded)

    def hear(self, recorded: Recorded[Event]) -> None:
        """Passes on an event that the component acts on."""
        self._note(recorded)
        self._pass_on(_Request(recorded, False))

    def hear_again(self, recorded: Recorded[Event]) -> None:
        """Passes on an event that was acted on before the query was interrupted; it was recalled already."""
        self._pass_on(_Request(recorded, True))

    def _note(self, recorded: Recorded[Event]) -> None:
        """Takes in what another process would have to know."""
        self._query_id = recorded.query_id
        self._owed = fold_pending(self._owed, recorded, self._catalog)
        if isinstance(recorded.event, (*self._kinds, *self._emits)):
            self._past.append(recorded)

    def _pass_on(self, request: _Request) -> None:
        seq = request.recorded.seq
        self._requests[seq] = request._replace(repeat=True)
        # What comes back is published in it: its cause is then this event, as if it had been handled here.
        self._contexts[seq] = copy_context()
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._open[seq] = done
        # As a task, which begins once the event is stored: nothing is asked for that a crash could undo.
        self._ports.spawn(self._until_done(request, done))
        if self._stop_link is None:
            self._stop_link = self._ports.spawn(self._keep_link(), background=True)

    async def _until_done(self, request: _Request, done: asyncio.Future[str]) -> None:
        """Asks for what an event calls for, and ends when nothing of it is under way any more."""
        self._outbox.append(request)
        self._news.set()
        error = await done
        if error:
            raise RemoteError(f"{self._link.room} elsewhere: {error}")

    async def _keep_link(self) -> None:
        """Sends what is to be sent, and looks for another process where one is lost, until the session ends."""
        pause_s = self._link.lease_s / BEATS
        try:
            while True:
                try:
                    async with asyncio.timeout(pause_s):
                        await self._news.wait()
                # Nothing to send: the lease is looked at all the same.
                except TimeoutError:
                    pass
                self._news.clear()
                await self._turn()
        finally:
            await self._leave()

    async def _turn(self) -> None:
        try:
            if self._lease is not None:
                self._lease.check()
            if self._lease is not None and self._lease.lost:
                self._give_up(self._lease)
            if self._lease is None and self._outbox:
                await self._begin()
            await self._send_all()
        except ServiceError as error:
            self._fail(str(error))

    async def _begin(self) -> None:
        """Begins at a process, and tells it what has happened so far."""
        self._lease = await self._link.begin(
            replace(self._place, query_id=self._query_id), self
        )
        asked = {request.recorded.seq for request in self._outbox}
        # A copy: what comes in meanwhile is heard by the process itself.
        for recorded in list(self._past):
            if recorded.seq not in asked:
                await self._lease.recall(recorded)

    async def _send_all(self) -> None:
        if self._lease is None:
            return
        if not self._outbox:
            await self._lease.alive()
        for request in self._outbox:
            seq = request.recorded.seq
            self._tries[seq] = self._tries.get(seq, 0) + 1
            try:
                await self._lease.hear(
                    request.recorded,
                    repeat=request.repeat,
                    followed=self._ports.followed(),
                )
            except RemoteError as error:
                # This one cannot be sent; others can.
                self._end(seq, str(error))
        self._outbox = []

    def _give_up(self, lease: cluster.Lease) -> None:
        """Lets go of a process that is lost; what it owes is to be repeated by another."""
        log.warning(
            "remote_process_lost",
            room=self._link.room,
            query_id=self._query_id,
            why=lease.lost,
        )
        self._link.forget(lease)
        self._lease = None
        waiting = {request.recorded.seq for request in self._outbox}
        owed = {pending.since_seq for pending in self._owed.values()}
        again: list[_Request] = []
        for seq, request in sorted(self._requests.items()):
            if seq in waiting:
                continue
            requests_something = type(request.recorded.event) in self._catalog.outcomes
            is_owed = seq in owed or (seq in self._open and not requests_something)
            if not is_owed:
                # Its outcome came before the process was lost: nothing is left of it.
                self._end(seq, "")
            elif self._tries.get(seq, 0) >= MOST_TRIES:
                self._end(seq, f"{lease.lost}, in the second process too")
            else:
                again.append(request)
        self._outbox = [*again, *self._outbox]

    def _fail(self, why: str) -> None:
        """Ends all that is waited for: what is owed the session finds by itself."""
        log.warning(
            "remote_part_away", room=self._link.room, query_id=self._query_id, why=why
        )
        if self._lease is not None:
            self._link.forget(self._lease)
            self._lease = None
        self._outbox = []
        for seq in list(self._open):
            self._end(seq, why)

    def _end(self, seq: int, error: str) -> None:
        waiting = self._open.pop(seq, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(error)

    def take_event(self, recorded: Recorded[Event]) -> None:
        """Publishes what the component published."""
        context = self._contexts.get(recorded.cause)
        # Whoever reaches the servers could send it: only what this component may publish, in this query, is taken.
        if not isinstance(recorded.event, self._emits) or context is None:
            raise RemoteError("an event came that is not the component's to publish")
        if recorded.query_id != self._query_id:
            raise RemoteError("an event of another query came")
        self._note(recorded)
        context.run(self._ports.publish, recorded.event)

    def take_live(self, live: Live) -> None:
        """Passes on what the component shows live."""
        self._ports.emit_live(live)

    def take_done(self, seq: int, error: str) -> None:
        """Lets the task end that waited for what this event led to."""
        self._end(seq, error)

    def lost(self) -> None:
        """Looks for another process now, and not at the next look at the lease."""
        self._news.set()

    async def _leave(self) -> None:
        """Tells the process that the query is over here."""
        if self._lease is None:
            return
        self._link.forget(self._lease)
        lease, self._lease = self._lease, None
        try:
            await lease.end()
        except RemoteError:
            return  # It notices by itself, when no sign of life comes.
