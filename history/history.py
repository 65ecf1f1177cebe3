"""Every run can be had again: replay, resume, follow and fork, over the service's own store and parts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Callable, Sequence

import structlog
from msgspec.structs import replace

from antiphon.bus import Bus
from antiphon.composition.caller import Caller
from antiphon.composition.handle import QueryHandle
from antiphon.composition.wiring import Interceptor, NoInterceptor, Resources, wire
from antiphon.history.continuing import continue_from
from antiphon.history.forking import FORKED, Change, Mode, by_passage, changed, recorded_parts
from antiphon.history.regression_test import said_anew
from antiphon.history.replaying import Replayed, replay, unreadable
from antiphon.vocabulary.errors import DecodeError, ServiceError, TraceError
from antiphon.vocabulary.events import Event, Live, QueryClosed, QueryReceived, QueryResumed, Recorded
from antiphon.vocabulary.ports import TraceStore

log = structlog.get_logger(__name__)

DIED = "the process that worked on it ended"


class History:
    """What can be done with a recorded query.

    Args:
        admit: Refuses (BusyError) where no further query may begin.
    """

    def __init__(self, bus: Bus, parts: Resources, store: TraceStore, admit: Callable[[], None] = lambda: None) -> None:
        self._bus = bus
        self._parts = parts
        self._store = store
        self._admit = admit

    async def replay(self, query_id: str) -> Replayed:
        """Runs the deciding parts over the trace again and compares.

        Raises:
            NotFoundError: No such trace.
            DecodeError: It cannot be read.
        """
        return await replay_stored(self._store, query_id)

    async def resume(self, query_id: str, why: str = DIED, around: Interceptor | None = None) -> QueryHandle:
        """Goes on with a query that is not over and that nobody works on.

        Args:
            around: What stands round it from here on.

        Raises:
            NotFoundError: No such trace.
            TraceError: It is over, or it is being worked on, here or in another process.
        """
        if query_id in self._bus.sessions:
            raise TraceError(f"query {query_id} is being worked on: follow it instead")
        await self._store.take_over(query_id)
        return self._go_on(await self._store.read(query_id), self._parts, why, around)

    async def resume_unfinished(self) -> list[QueryHandle]:
        """Goes on with every query that a process left behind; one that cannot be is logged and left as it is."""
        resumed: list[QueryHandle] = []
        for query_id in await self._store.unfinished():
            try:
                resumed.append(await self.resume(query_id))
            except ServiceError as error:
                log.warning("query_not_resumed", query_id=query_id, error=str(error))
        return resumed

    async def fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        around: Interceptor | None = None,
    ) -> QueryHandle:
        """A new query that shares a trace up to an event, has something changed there, and goes on from it.

        Args:
            at: The event to change, the last that both have; None: the last one that `changes` name. With `around` and
                no changes: the first event that happens within `around`; None is the first of all.
            around: What stands round the new query, such as faults, and says in words (`str`) what it does; what is
                shared happened without it.

        Raises:
            NotFoundError: No such trace.
            BadInputError: A change does not fit the event, or the query is over by then.
            BusyError: Too many queries run, or the service is closing.
        """
        self._admit()
        events = await self._in_todays_form(query_id)
        changes = by_passage(events, changes)
        last = at if changes or around is None else (at or 1) - 1
        blot = self._parts.redaction.event
        shared = changed(events, last, changes, uuid.uuid4().hex, str(around or ""))
        prefix = [replace(said, event=blot(said.event)) for said in shared]
        parts = recorded_parts(self._parts, events, changes, mode)
        if last == 0:
            return self._begin(prefix[0], parts, around or NoInterceptor())
        await self._store.append(prefix[0].query_id, 0, prefix)
        return self._go_on(prefix, parts, f"{FORKED}{query_id}", around)

    async def _in_todays_form(self, query_id: str) -> Sequence[Recorded[Event]]:
        """A trace, with what rules say today in fields that its events did not have yet (decision 063)."""
        events = await self._store.read(query_id)
        if replay(events).divergence is None:
            return events
        older = replay(events, await self._store.forms(query_id)).divergence is None
        return said_anew(events) if older else events

    def _begin(self, first: Recorded[Event], parts: Resources, around: Interceptor) -> QueryHandle:
        """A query of its own that shares no more than the question."""
        assert isinstance(first.event, QueryReceived)
        caller = Caller()
        parts = around.parts(parts)
        components = around.components(lambda ports: wire(parts, ports, caller).subscriptions())
        session = self._bus.open(first.query_id, components, store=around.store(self._store))
        session.start(first.event)
        return QueryHandle(session, caller, first.event.session_id)

    async def follow(self, query_id: str, after: int = 0) -> AsyncGenerator[Recorded[Event] | Live, None]:
        """Every event after `after`, each once: what is stored, and then live for as long as the query runs here.

        Raises:
            NotFoundError: No such trace.
            SlowReaderError: While reading: the reader fell too far behind.
        """
        session = self._bus.sessions.get(query_id)
        if session is None or session.over:
            for recorded in await self._store.read(query_id, after):
                yield recorded
            return
        async for told in session.follow():
            if not isinstance(told, Recorded) or told.seq > after:
                yield told

    def _go_on(
        self, prefix: Sequence[Recorded[Event]], parts: Resources, why: str, around: Interceptor | None = None
    ) -> QueryHandle:
        first = prefix[0].event
        if not isinstance(first, QueryReceived):
            raise TraceError(f"trace {prefix[0].query_id} does not begin with a question: it cannot be gone on with")
        if any(isinstance(recorded.event, QueryClosed) for recorded in prefix):
            raise TraceError(f"query {prefix[0].query_id} is over: there is nothing to go on with")
        away_s = max(0.0, self._parts.clock.now() - prefix[-1].at)
        caller = Caller()
        around = around or NoInterceptor()
        around.recall(prefix)
        parts = around.parts(parts)
        session = continue_from(
            self._bus,
            lambda ports: wire(parts, ports, caller),
            prefix,
            QueryResumed(away_s=away_s, why=why),
            interceptor=around,
            store=around.store(self._store),
        )
        return QueryHandle(session, caller, first.session_id)


async def replay_stored(store: TraceStore, query_id: str) -> Replayed:
    """Replays a trace of a store; the computing is done in a thread."""
    try:
        events = await store.read(query_id)
    except DecodeError as error:
        return unreadable(query_id, error.seq, error.seq, error)
    result = await asyncio.to_thread(replay, events)
    if result.divergence is None:
        return result
    # Only now is it worth looking at the form in which each event was written.
    return await asyncio.to_thread(replay, events, await store.forms(query_id))
