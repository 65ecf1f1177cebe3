"""Performs requests of one query in another process: passes them on, and publishes what comes back.

To the session nothing is different: what a request led to is a task of the session for as long as it is under way, and
what comes back has the request as its cause. A process that is lost is replaced by another one, which performs again
what has no outcome, as a query does that is resumed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from typing import NamedTuple

import structlog
from msgspec.structs import replace

from antiphon.cluster.remote_frames import Place
from antiphon.cluster.remote_link import Lease, RemoteLink
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.errors import RemoteError, ServiceError
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.performing import Command
from antiphon.vocabulary.ports import Ports

log = structlog.get_logger(__name__)

MOST_TRIES = 2
"""Processes in which one request is tried: a call that ends its process must not end all of them in turn."""
BEATS = 4
"""Looks at the lease, and signs of life, in the time that it lasts."""


class Room(NamedTuple):
    """What can be performed in a process of its own.

    Attributes:
        performs: The requests.
        emits: The events that may come back; others are refused.
        needs: The events of the query's past that its process has to know.
    """

    performs: tuple[type[Event], ...]
    emits: tuple[type[Event], ...]
    needs: tuple[type[Event], ...] = ()


@dataclass(eq=False)
class RemoteRun:
    """A request that is performed elsewhere; satisfies `Run`.

    Attributes:
        again: It was sent before, to a process that is gone, or performed before the query was interrupted.
        context: What comes back is published in it: its cause is then the request, as if it were performed here.
        done: Is set to what failed, or to an empty text, when nothing of the request is under way any more.
        news: Wakes the task that sends.
        tries: The processes that it was sent to.
        abandoned: Why it was abandoned; empty if it was not.
        has_outcome: Its outcome was published.
        unsent: What of it waits to be sent.
    """

    request: Recorded[Event]
    again: bool
    context: Context
    done: asyncio.Future[str]
    news: asyncio.Event
    tries: int = 0
    abandoned: str = ""
    has_outcome: bool = False
    unsent: bool = True

    def abandon(self, why: str, /) -> None:
        """Lets the process that performs it stop it and send its outcome."""
        if self.has_outcome or self.done.done():
            return
        self.abandoned = why
        self.context = copy_context()
        self.unsent = True
        self.news.set()

    def end(self, error: str) -> None:
        """Lets the session's task end."""
        if not self.done.done():
            self.done.set_result(error)


class RemoteOutside:
    """Satisfies `Outside`.

    Args:
        link: The way to the processes that perform such requests.
    """

    def __init__(
        self,
        link: RemoteLink,
        place: Place,
        ports: Ports,
        catalog: Catalog,
        room: Room,
    ) -> None:
        self._link = link
        self._place = place
        self._ports = ports
        self._catalog = catalog
        self._room = room
        self._runs: dict[int, RemoteRun] = {}
        self._news = asyncio.Event()
        self._lease: Lease | None = None
        self._told_seq = 0
        self._stop_link: Callable[[], object] | None = None

    def perform(self, command: Command, /) -> RemoteRun:
        """Has a request performed by another process."""
        request = command.request
        self._place = replace(self._place, query_id=request.query_id)
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        run = RemoteRun(request, command.again, copy_context(), done, self._news)
        self._runs[request.seq] = run
        # As a task, which begins once the event is stored: nothing is asked for that a crash could undo.
        self._ports.spawn(self._until_done(run))
        if self._stop_link is None:
            self._stop_link = self._ports.spawn(self._keep_link(), background=True)
        return run

    async def _until_done(self, run: RemoteRun) -> None:
        """Sends a request, and ends when nothing of it is under way any more."""
        self._news.set()
        error = await run.done
        if error:
            raise RemoteError(f"{self._link.room} elsewhere: {error}")

    async def _keep_link(self) -> None:
        """Sends what is to be sent, and looks for another process if one is lost, until the session ends."""
        pause_s = self._link.lease_s / BEATS
        try:
            while True:
                # Nothing to send: the lease is looked at all the same.
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause_s):
                        await self._news.wait()
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
            if self._lease is None and self._unsent():
                self._lease = await self._link.begin(self._place, self)
                self._told_seq = 0
            if self._lease is not None:
                await self._send_all(self._lease)
        except ServiceError as error:
            self._fail(str(error))

    def _unsent(self) -> list[RemoteRun]:
        return [run for run in self._open() if run.unsent]

    def _open(self) -> list[RemoteRun]:
        return [run for run in self._runs.values() if not run.done.done()]

    async def _send_all(self, lease: Lease) -> None:
        unsent = self._unsent()
        if not unsent:
            await lease.alive()
        for run in unsent:
            run.unsent = False
            try:
                await self._send(lease, run)
            except RemoteError as error:
                # This one cannot be sent; others can.
                run.end(str(error))

    async def _send(self, lease: Lease, run: RemoteRun) -> None:
        is_there = run.tries and not run.again
        if not is_there:
            await self._tell_past(lease)
            run.tries += 1
            again, run.again = run.again, False
            await lease.perform(
                run.request, again=again, followed=self._ports.followed()
            )
        if run.abandoned:
            await lease.abandon(run.request.seq, run.abandoned)

    async def _tell_past(self, lease: Lease) -> None:
        """Tells the process what has happened since it was last told: tools know what was found before."""
        for recorded in self._ports.past():
            if recorded.seq > self._told_seq:
                self._told_seq = recorded.seq
                if isinstance(recorded.event, self._room.needs):
                    await lease.recall(recorded)

    def _give_up(self, lease: Lease) -> None:
        """Lets go of a process that is lost; what it owes is performed again by another."""
        log.warning(
            "remote_process_lost",
            room=self._link.room,
            query_id=self._place.query_id,
            why=lease.lost,
        )
        self._link.forget(lease)
        self._lease = None
        for run in self._open():
            if run.has_outcome:
                run.end("")
            elif run.tries >= MOST_TRIES:
                run.end(f"{lease.lost}, in the second process too")
            elif run.tries:
                run.again = run.unsent = True

    def _fail(self, why: str) -> None:
        """Ends all that is waited for: what is owed the session finds by itself."""
        log.warning(
            "remote_part_away",
            room=self._link.room,
            query_id=self._place.query_id,
            why=why,
        )
        if self._lease is not None:
            self._link.forget(self._lease)
            self._lease = None
        for run in self._open():
            run.end(why)

    def take_event(self, recorded: Recorded[Event]) -> None:
        """Publishes what the process published."""
        run = self._runs.get(recorded.cause)
        # Whoever reaches the servers could send it: only what a request of this query leads to is taken.
        if not isinstance(recorded.event, self._room.emits) or run is None:
            raise RemoteError("an event came that is not the component's to publish")
        if recorded.query_id != self._place.query_id:
            raise RemoteError("an event of another query came")
        outcomes = self._catalog.outcomes.get(type(run.request.event), ())
        run.has_outcome = run.has_outcome or isinstance(recorded.event, outcomes)
        run.context.run(self._ports.publish, recorded.event)

    def take_live(self, live: Live) -> None:
        """Passes on what the process shows live."""
        self._ports.emit_live(live)

    def take_done(self, seq: int, error: str) -> None:
        """Lets the task end that waited for what this request led to."""
        if seq in self._runs:
            self._runs[seq].end(error)

    def lost(self) -> None:
        """Looks for another process now, and not at the next look at the lease."""
        self._news.set()

    async def _leave(self) -> None:
        """Tells the process that the query is over here."""
        if self._lease is None:
            return
        self._link.forget(self._lease)
        lease, self._lease = self._lease, None
        # A process that hears nothing of it notices by itself, when no sign of life comes.
        with suppress(RemoteError):
            await lease.end()
