"""Performs requests of one query in another process: passes them on, and publishes the events that come back.

Nothing is different for the session: the work of a request is a task of the session as long as it is under way, and
events that come back have the request as their cause. If a process is lost, another one replaces it and repeats the
requests that have no outcome, as a resumed query does.
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
"""Processes that may try one request: a call that kills its process must not kill all of them in turn."""
BEATS = 4
"""How often the lease is checked, and a sign of life sent, in the time that it lasts."""


class Room(NamedTuple):
    """A part of the service that can run in a process of its own.

    Attributes:
        performs: The requests that it performs.
        emits: The events that may come back; others are refused.
        needs: The events of the query's past that the process has to know.
    """

    performs: tuple[type[Event], ...]
    emits: tuple[type[Event], ...]
    needs: tuple[type[Event], ...] = ()


@dataclass(eq=False)
class RemoteRun:
    """A request that another process performs; satisfies `Run`.

    Attributes:
        again: True if it was sent to a process that is gone, or performed before the query was interrupted.
        context: Events that come back are published in it, so that the request is their cause, as if performed here.
        done: Is set once all work of the request is done, to the failure or to an empty text.
        news: Wakes the task that sends.
        tries: The number of processes to which it was sent.
        abandoned: The reason why it was abandoned; empty if it was not.
        has_outcome: True once its outcome was published.
        unsent: True if the request, or its abandonment, waits to be sent.
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
        """Has the other process stop the request and send its outcome."""
        if self.has_outcome or self.done.done():
            return
        self.abandoned = why
        # From now on the cause of what comes back is the event that abandons it, which is being handled here.
        self.context = copy_context()
        self.unsent = True
        self.news.set()

    def end(self, error: str) -> None:
        """Lets the session's task for this request end."""
        if not self.done.done():
            self.done.set_result(error)


class RemoteOutside:
    """The outside of one query, at work in another process; satisfies `Outside`.

    Args:
        link: The link to the processes that perform such requests.
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
        # A task of the session begins once its event is stored: a crash cannot undo a request that was sent.
        self._ports.spawn(self._until_done(run))
        if self._stop_link is None:
            self._stop_link = self._ports.spawn(self._keep_link(), background=True)
        return run

    async def _until_done(self, run: RemoteRun) -> None:
        """Has a request sent, and ends once all work of it is done."""
        self._news.set()
        error = await run.done
        if error:
            raise RemoteError(f"{self._link.room} elsewhere: {error}")

    async def _keep_link(self) -> None:
        """Sends requests, and looks for another process if one is lost, until the session ends."""
        pause_s = self._link.lease_s / BEATS
        try:
            while True:
                # With nothing to send, the lease still has to be checked.
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
                # This request cannot be sent; others may be.
                run.end(str(error))

    async def _send(self, lease: Lease, run: RemoteRun) -> None:
        # True if the process has the request already, and only its abandonment is to be sent.
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
        """Sends the process the past events that it does not have yet, because tools use earlier findings."""
        for recorded in self._ports.past():
            if recorded.seq > self._told_seq:
                self._told_seq = recorded.seq
                if isinstance(recorded.event, self._room.needs):
                    await lease.recall(recorded)

    def _give_up(self, lease: Lease) -> None:
        """Gives up a lost process; another one will repeat the requests for which it owes an outcome."""
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
        """Ends the tasks of all open requests; the session then notices itself that their outcomes are owed."""
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
        """Publishes an event that the process sent."""
        run = self._runs.get(recorded.cause)
        # Anybody who reaches the servers could have sent it: only outcomes of this query's own requests are accepted.
        if not isinstance(recorded.event, self._room.emits) or run is None:
            raise RemoteError("an event came that is not the component's to publish")
        if recorded.query_id != self._place.query_id:
            raise RemoteError("an event of another query came")
        outcomes = self._catalog.outcomes.get(type(run.request.event), ())
        run.has_outcome = run.has_outcome or isinstance(recorded.event, outcomes)
        run.context.run(self._ports.publish, recorded.event)

    def take_live(self, live: Live) -> None:
        """Passes on live text."""
        self._ports.emit_live(live)

    def take_done(self, seq: int, error: str) -> None:
        """Ends the task of a request whose work is done."""
        if seq in self._runs:
            self._runs[seq].end(error)

    def lost(self) -> None:
        """Has another process looked for at once, rather than at the next check of the lease."""
        self._news.set()

    async def _leave(self) -> None:
        """Sends the process the end of the query."""
        if self._lease is None:
            return
        self._link.forget(self._lease)
        lease, self._lease = self._lease, None
        # A process that does not get it will miss the signs of life.
        with suppress(RemoteError):
            await lease.end()
