"""Replays, resumes, follows and forks recorded queries over the service's own store and resources."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence

import structlog
from msgspec.structs import replace

from antiphon.bus import Bus
from antiphon.composition import (
    GrowingTrace,
    Interceptor,
    Query,
    Resources,
    Totals,
)
from antiphon.composition.spending import lost_in
from antiphon.history.changes import Change
from antiphon.history.continuing import continue_from
from antiphon.history.diffing import Diff, diff
from antiphon.history.forking import (
    FORKED,
    Mode,
    PreparedFork,
    Versions,
    by_passage,
    forked_prefix,
    placed_in_time,
    with_todays,
)
from antiphon.history.local_trace import LocalTrace
from antiphon.history.performers import Acting, acting_as_usual, acting_in_fork
from antiphon.history.planning import ForkPlan, plan_of, settings_in
from antiphon.history.regression_test import in_todays_form
from antiphon.history.replaying import ReplayResult, replay, unreadable, with_missing
from antiphon.history.requests import is_imported
from antiphon.vocabulary.errors import (
    BadInputError,
    DecodeError,
    ServiceError,
    TraceError,
    TraceStateError,
)
from antiphon.vocabulary.events import (
    RULES,
    Event,
    Live,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
)
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.unknown import UnknownEvent, unknown_words
from antiphon.vocabulary.values import StoredText, Usage

log = structlog.get_logger(__name__)

DIED = "the process that worked on it ended"
"""Recorded as the reason for resuming unless the caller gives another."""


def _admit_always() -> None:
    """Admits every query."""


TraceOf = Callable[[str], GrowingTrace]
"""Returns the trace of a query that other processes work on."""


def _no_versions() -> Versions:
    """Returns no versions."""
    return ()


class History:
    """The recorded queries of a service.

    Args:
        admit: Raises BusyError if no further query may begin.
        totals: Adds up the spending of forked and resumed queries; None: nobody counts it.
        versions: Returns the current names and versions of all that shapes a query, for live forks.
        elsewhere: Returns the trace of a query that does not run here; None: no other process works on queries.
    """

    def __init__(
        self,
        bus: Bus,
        resources: Resources,
        store: TraceStore,
        admit: Callable[[], None] = _admit_always,
        totals: Totals | None = None,
        versions: Callable[[], Versions] = _no_versions,
        elsewhere: TraceOf | None = None,
    ) -> None:
        self._bus = bus
        self._resources = resources
        self._store = store
        self._admit = admit
        self._totals = totals
        self._versions = versions
        self._elsewhere = elsewhere

    async def replay(self, query_id: str) -> ReplayResult:
        """Runs the deciding components over the trace, and compares their events with it.

        Raises:
            NotFoundError: No such trace.
            DecodeError: It cannot be read.
        """
        return await replay_stored(
            self._store,
            query_id,
            self._resources.subscribers,
            self._resources.tool_definitions,
        )

    async def diff(self, query_id: str, other_id: str) -> Diff:
        """Compares two recorded queries.

        Raises:
            NotFoundError: There is no such trace.
            DecodeError: One cannot be read.
        """
        left, right = await self._store.read(query_id), await self._store.read(other_id)
        return await asyncio.to_thread(diff, left, right, self._resources.subscribers)

    async def resume(
        self,
        query_id: str,
        why: str = DIED,
        interceptor: Interceptor | None = None,
        *,
        counts_away: bool = False,
    ) -> Query:
        """Resumes a query that is not over and that nobody works on.

        Args:
            interceptor: Applies to it from here on; None: no interceptor.
            counts_away: Counts the time in which nobody worked on it against its deadline, because somebody is waiting.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: It is over, or a process works on it, here or elsewhere.
        """
        self._check_idle(query_id)
        # From here on an append by any other process that still works on the query fails.
        events = await self._store.take_over(query_id)
        _check_known(events)
        acting = acting_as_usual(self._resources, interceptor)
        return self._go_on(events, acting, why, events, counts_away=counts_away)

    async def end(self, query_id: str, why: str, last: Event) -> Query:
        """Ends a query that nobody works on with the event `last`, without repeating its interrupted requests.

        Takes an id and a reason, and raises, as `resume` does.
        """
        self._check_idle(query_id)
        events = await self._store.take_over(query_id)
        acting = acting_as_usual(self._resources, None)
        return self._go_on(events, acting, why, events, counts_away=True, last=last)

    def _check_idle(self, query_id: str) -> None:
        if query_id in self._bus.sessions:
            raise TraceStateError(
                f"query {query_id} is being worked on: follow it instead"
            )

    async def resume_unfinished(self) -> list[Query]:
        """Resumes all queries that a process left behind; logs and leaves those that cannot be resumed."""
        resumed: list[Query] = []
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
        interceptor: Interceptor | None = None,
        *,
        effects: bool = True,
        fork_id: str | None = None,
    ) -> Query:
        """Starts a query that shares a trace up to an event, with changes applied, and goes on from there.

        Args:
            at: The event to change, the last shared one; None: the last one that `changes` name. With an interceptor
                and no changes: the first event that it sees; None: the first of all.
            interceptor: Applies to the new query, for example with faults, but not to the shared part.
            effects: Lets it run tools that change something outside, in the mode `live`.
            fork_id: The new query's id; None: a new one.

        Raises:
            NotFoundError: No such trace.
            BadInputError: A change does not fit the event, or the query is over by then.
            BusyError: Too many queries run, or the service is closing.
        """
        self._admit()
        fork = await self._prepared(query_id, at, changes, mode, interceptor, fork_id)
        # Again, because others may have begun, or the service may be closing, since the trace was read.
        self._admit()
        prefix, shift_s = placed_in_time(fork.prefix, self._resources.clock.now())
        acting = acting_in_fork(
            # Own circuits, so that a fork's failures do not keep the service's other queries from model and tools.
            self._resources.with_own_circuits(),
            fork.events,
            fork.changes,
            mode,
            interceptor,
            prefix,
            shift_s,
            effects=effects,
        )
        # The parent has already paid for the replies that are shared or played again.
        paid = fork.events if mode == "recorded" else prefix
        if fork.shared == 0:
            return self._begin(prefix[0], acting, paid)
        # Stored before anything acts on it, like every event.
        await self._store.append(prefix[0].query_id, 0, prefix)
        return self._go_on(prefix, acting, f"{FORKED}{query_id}", paid)

    async def plan_fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None = None,
    ) -> ForkPlan:
        """Returns the live parts of a fork and their possible cost. Takes arguments and raises as `fork` does."""
        fork = await self._prepared(query_id, at, changes, mode, interceptor)
        settings = settings_in(fork.prefix)
        return plan_of(self._resources, fork.events, settings, fork.shared, mode)

    async def _prepared(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None,
        fork_id: str | None = None,
    ) -> PreparedFork:
        """Reads the trace, and checks and applies the changes."""
        events = await self._in_todays_form(query_id)
        if mode != "recorded" and is_imported(events):
            raise BadInputError(
                "Another program ran this query, and its tools are not here: only --mode recorded can run it again."
            )
        changes = by_passage(events, changes)
        faults: tuple[str, ...] = ()
        if interceptor is not None:
            faults = interceptor.faults
            # Without changes, the event at which the fork begins must be repeated under the interceptor.
            if not changes:
                at = (at or 1) - 1
        forked = forked_prefix(
            events,
            at,
            changes,
            fork_id or uuid.uuid4().hex,
            faults,
            self._resources.catalog,
        )
        # A change may contain texts that must not be stored.
        redact = self._resources.redaction.event
        prefix = [replace(each, event=redact(each.event)) for each in forked]
        first = prefix[0].event
        assert isinstance(first, QueryReceived)  # otherwise it was refused
        if mode != "recorded":
            versions = with_todays(first.versions, self._versions())
            prefix[0] = replace(prefix[0], event=replace(first, versions=versions))
        return PreparedFork(events, changes, prefix, first.parent_seq)

    def query(self, query_id: str) -> Query:
        """Returns a query that was begun earlier, without checking that the id exists."""
        return Query(self._trace_of(query_id))

    def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields every event after `after` once: stored ones first, then live ones for as long as the query runs.

        Raises:
            NotFoundError: No such trace.
            SlowReaderError: While reading: the reader fell too far behind.
        """
        return self._trace_of(query_id).follow(after)

    def _trace_of(self, query_id: str) -> GrowingTrace:
        sessions = self._bus.sessions
        if self._elsewhere is not None and query_id not in sessions:
            return self._elsewhere(query_id)
        return LocalTrace(query_id, sessions, self._store)

    async def _in_todays_form(self, query_id: str) -> Sequence[Recorded[Event]]:
        """Reads a trace, and fills fields that its events lacked with today's decisions of the rules."""
        events = await self._store.read(query_id)
        _check_known(events)
        forms = await self._store.forms(query_id)
        return in_todays_form(events, forms, self._resources.subscribers)

    def _begin(
        self, first: Recorded[Event], acting: Acting, paid: Sequence[Recorded[Event]]
    ) -> Query:
        """Starts a new query that shares only the question."""
        assert isinstance(first.event, QueryReceived)
        components = acting.interceptor.components(
            lambda ports: acting.wire(ports).subscriptions()
        )
        store = acting.interceptor.store(self._store)
        session = self._bus.open(
            first.query_id, components, store=store, clock=acting.clock
        )
        session.start(first.event)
        return Query(session, self._totals, paid)

    def _go_on(
        self,
        prefix: Sequence[Recorded[Event]],
        acting: Acting,
        why: str,
        paid: Sequence[Recorded[Event]],
        *,
        counts_away: bool = False,
        last: Event | None = None,
    ) -> Query:
        """Starts a session that goes on from a stored prefix; with `last` it repeats nothing, and that ends it."""
        first = prefix[0]
        if not isinstance(first.event, QueryReceived):
            raise TraceError(
                f"trace {first.query_id} does not begin with a question: it cannot be gone on with"
            )
        for recorded in prefix:
            if isinstance(recorded.event, QueryClosed):
                raise TraceError(
                    f"query {first.query_id} is over: there is nothing to go on with"
                )
        # This machine's clock may be behind that of the machine that wrote the trace.
        behind_s = max(0.0, acting.clock.now() - prefix[-1].at)
        away_s = 0.0 if counts_away else behind_s
        acting.interceptor.recall(prefix)
        # Calls under way at the start of a fork are its parent's.
        lost = Usage() if why.startswith(FORKED) else lost_in(prefix)
        session = continue_from(
            self._bus,
            acting.wire,
            prefix,
            QueryResumed(away_s=away_s, why=why, lost=lost),
            interceptor=acting.interceptor,
            store=acting.interceptor.store(self._store),
            clock=acting.clock,
            repeats=last is None,
            last=last,
        )
        return Query(session, self._totals, paid)


def _check_known(events: Sequence[Recorded[Event]]) -> None:
    """Refuses to continue a query if a subscriber that took part in it is missing: it would be another query."""
    for recorded in events:
        if isinstance(recorded.event, UnknownEvent):
            words = unknown_words(recorded.event.kind_name())
            raise DecodeError(
                f"trace {recorded.query_id}, seq {recorded.seq}: {words}; without it the query cannot go on",
                recorded.seq,
            )


async def replay_stored(
    store: TraceStore,
    query_id: str,
    subscribers: Sequence[Subscriber] = (),
    tools: StoredText | None = None,
) -> ReplayResult:
    """Replays a trace of a store, with the computation in a thread.

    Args:
        subscribers: The components from outside that took part when the query was recorded.
        tools: The definitions of today's tools; None: they are not compared.
    """
    try:
        events = await store.read(query_id)
    except DecodeError as error:
        forms = await store.forms(query_id)
        versions = forms[0].get("versions", ())
        return with_missing(
            unreadable(query_id, error.seq, error.seq, error), versions, subscribers
        )
    # The written forms of events matter only if something differs. In a trace of older rules something nearly always
    # does, so it uses them at once instead of being replayed twice.
    if not _has_older_rules(events[0].event):
        result = await asyncio.to_thread(replay, events, None, subscribers, tools)
        if result.divergence is None:
            return result
    return await asyncio.to_thread(
        replay, events, await store.forms(query_id), subscribers, tools
    )


def _has_older_rules(first: Event) -> bool:
    return isinstance(first, QueryReceived) and first.rules < RULES
