"""Ports to whoever works on queries: the process that was asked, or others to which it hands them."""

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
"""Ends a query that nobody works on, as `History.end` does."""


@dataclass(frozen=True)
class Beginning:
    """A query as it is begun.

    Attributes:
        store: Records it, as the interceptor has it.
        is_new: Its conversation is not known yet.
        must_be_stored: It has begun once its first event is stored.
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
        """Keeps a place for a query while it is being begun.

        Raises:
            BusyError: There is none.
            ForbiddenError: It cannot be worked on with such an interceptor.
        """

    async def begin(self, beginning: Beginning) -> Query:
        """Begins a query.

        Raises:
            TraceError: It must be stored, and was not.
            SequenceError: Another process has begun a query of that id.
        """

    async def make_sure(self, query_id: str) -> None:
        """Makes sure that a query which was begun before is worked on, or over. Raises BusyError if it cannot."""

    def trace(self, query_id: str) -> GrowingTrace:
        """Returns the trace of a query that was begun before, in whichever process."""

    async def knows(self, query_id: str) -> bool:
        """Returns True for the whole id of a trace that the caller sees, if that needs no list of traces."""

    async def cancel(self, query_id: str, why: str) -> None:
        """Ends a query that does not run in this process. Raises TraceStateError if nobody works on it."""


class TraceElsewhere(GrowingTrace, Protocol):
    """The trace of a query that another process works on."""

    def pending(self) -> tuple[Pending, ...]:
        """Returns what the query waits for, as far as its trace was read here."""


class Elsewhere(Protocol):
    """Other processes that work on the queries that this one is asked."""

    @property
    def trouble(self) -> str | None:
        """The reason why no query can be begun now, in a sentence; None: one can."""

    @property
    def under_way(self) -> Mapping[str, TraceElsewhere]:
        """The traces of the queries that were asked here and are not over."""

    def runner(
        self,
        caller: Principal,
        store: TraceStore,
        clock: Clock,
        totals: Totals,
        end: EndQuery,
    ) -> Runner:
        """Returns what has them work on a caller's queries."""

    async def look(self, is_wanted: Callable[[str], bool]) -> None:
        """Reads what the traces of some of the queries hold by now."""

    def upkeep(self) -> Sequence[tuple[str, Coroutine[Any, Any, None]]]:
        """Returns what goes on beside queries until it is cancelled, by name."""

    async def leave(self) -> None:
        """Lets go of the queries, which others go on with."""

    async def close(self) -> None:
        """Lets go of the other processes, when everything else is closed."""
