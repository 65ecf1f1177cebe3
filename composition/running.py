"""Ports to the processes that work on queries: the one that got the question, or others to which it hands it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from antiphon.bus import Pending
from antiphon.composition.outcome import Totals
from antiphon.composition.query import GrowingTrace, Query
from antiphon.composition.question import Question
from antiphon.composition.resources import Interceptor
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.events import Event, QueryReceived
from antiphon.vocabulary.ports import Clock, QueryStore, TraceStore

EndQuery = Callable[[str, str, Event], Awaitable[Query]]
"""Ends a query on which no process works, as `History.end` does."""


@dataclass(frozen=True)
class Beginning:
    """A query that is about to begin.

    Attributes:
        store: Records it; the interceptor may have wrapped it.
        is_new: True if its conversation is not stored yet.
        must_be_stored: True if it may begin only once its first event is stored.
    """

    query_id: str
    first: QueryReceived
    interceptor: Interceptor
    store: QueryStore
    is_new: bool
    must_be_stored: bool


class Runner(Protocol):
    """Has one caller's queries worked on."""

    def place(
        self, query_id: str, question: Question, interceptor: Interceptor
    ) -> AbstractAsyncContextManager[None]:
        """Keeps a place for a query while it begins.

        Raises:
            BusyError: There is no place.
            ForbiddenError: Nobody can work on it with such an interceptor.
        """

    async def begin(self, beginning: Beginning) -> Query:
        """Begins a query.

        Raises:
            TraceError: Its first event must be stored, and was not.
            SequenceError: Another process has begun a query of that id.
        """

    async def make_sure(self, query_id: str) -> None:
        """Makes sure that a query which began before is over, or that some process works on it. Raises BusyError."""

    def trace(self, query_id: str) -> GrowingTrace:
        """Returns the trace of a query that began before, in any process."""

    async def knows(self, query_id: str) -> bool:
        """Returns True for the whole id of a trace that the caller sees, if that needs no list of traces."""

    async def cancel(self, query_id: str, why: str) -> None:
        """Ends a query that does not run in this process. Raises TraceStateError if no process works on it."""


class TraceElsewhere(GrowingTrace, Protocol):
    """The trace of a query that another process works on."""

    def pending(self) -> tuple[Pending, ...]:
        """Returns the events for which the query waits, as far as this process has read its trace."""


class Elsewhere(Protocol):
    """Other processes, which work on the queries that this one receives."""

    @property
    def trouble(self) -> str | None:
        """The reason why no query can begin now, in a sentence; None: one can."""

    @property
    def under_way(self) -> Mapping[str, TraceElsewhere]:
        """The traces of the queries that this process received and that are not over."""

    def runner(
        self,
        caller: Principal,
        store: TraceStore,
        clock: Clock,
        totals: Totals,
        end: EndQuery,
    ) -> Runner:
        """Returns the runner of a caller's queries."""

    async def look(self, is_wanted: Callable[[str], bool]) -> None:
        """Reads the new events of those queries that are wanted."""

    def upkeep(self) -> Sequence[tuple[str, Coroutine[Any, Any, None]]]:
        """Returns background work by name; it goes on beside queries until it is cancelled."""

    async def leave(self) -> None:
        """Stops following the queries, on which the other processes go on working."""

    async def close(self) -> None:
        """Closes the connection to the other processes, once everything else is closed."""
