"""Turns a caller's question into a query: admits it, meters it, receives it and starts it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from antiphon.bus import Bus
from antiphon.composition import (
    Beginning,
    GrowingTrace,
    Interceptor,
    Need,
    Query,
    Resources,
    Runner,
    Totals,
    bounded,
    check_question,
    need_of,
    wire,
)
from antiphon.composition.intake import Intake
from antiphon.composition.question import Question
from antiphon.history.local_trace import LocalTrace
from antiphon.service.admission import Admission
from antiphon.service.runtime import Runtime
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import SequenceError, TraceError, TraceStateError
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.settings import QuerySettings


class Asking:
    """The questions of one caller, over the resources and the store that the caller sees."""

    def __init__(
        self,
        principal: Principal,
        runtime: Runtime,
        resources: Resources,
        store: TraceStore,
        intake: Intake,
        runner: Runner,
    ) -> None:
        self._principal = principal
        self._runtime = runtime
        self._resources = resources
        self._store = store
        self._intake = intake
        self._runner = runner

    async def start(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        *,
        must_be_stored: bool,
    ) -> Query:
        """Starts work on a question. Takes and raises what `Antiphon.start` does."""
        self._runtime.admission.check_open()
        async with self._runner.place(query_id, question, interceptor):
            try:
                return await self._let_in(
                    question, interceptor, query_id, must_be_stored=must_be_stored
                )
            except SequenceError:
                # Two processes got the same question at once, and the other was first.
                await self._runner.make_sure(query_id)
                return Query(self._runner.trace(query_id))

    async def _let_in(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        *,
        must_be_stored: bool,
    ) -> Query:
        """Starts a query within the rest of its caller's share, and meters it."""
        metering = self._runtime.callers.metering
        need = Need()
        settings: QuerySettings | None = None
        if metering.counts(self._principal):
            # Checked first, so that an invalid question costs no share.
            settings = check_question(question, self._runtime.settings).settings
            need = need_of(settings, self._resources)
        async with metering.let_in(self._principal, query_id, need) as allowance:
            if settings is not None:
                question = bounded(question, settings, allowance)
            handle = await self._begin(
                question, interceptor, query_id, must_be_stored=must_be_stored
            )
            metering.watch(self._principal, handle)
        return handle

    async def _begin(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        *,
        must_be_stored: bool,
    ) -> Query:
        # The conversation comes from the same store that records the query, because the interceptor may make it fail.
        store = interceptor.store(self._store)
        first = await self._intake.receive(question, store, interceptor)
        # The service may have begun to close while reading the conversation.
        self._runtime.admission.check_open()
        beginning = Beginning(
            query_id=query_id,
            first=first,
            interceptor=interceptor,
            store=store,
            is_new=question.session_id is None and question.told is None,
            must_be_stored=must_be_stored,
        )
        return await self._runner.begin(beginning)


class LocalRunner:
    """Works on a caller's queries in this process. Satisfies `composition.Runner`."""

    def __init__(
        self,
        bus: Bus,
        admission: Admission,
        resources: Resources,
        store: TraceStore,
        totals: Totals,
    ) -> None:
        self._bus = bus
        self._admission = admission
        self._resources = resources
        self._store = store
        self._totals = totals

    def place(
        self, query_id: str, question: Question, interceptor: Interceptor
    ) -> AbstractAsyncContextManager[None]:
        """Waits for a place. Raises as `Admission.place` does."""
        del question, interceptor  # a local place does not depend on them
        return self._admission.place(query_id)

    async def begin(self, beginning: Beginning) -> Query:
        """Starts a session, and returns once storing its first event has succeeded or failed.

        Raises:
            TraceError: It must be stored, and could not be.
        """
        interceptor = beginning.interceptor
        resources = interceptor.resources(self._resources)
        components = interceptor.components(
            lambda ports: wire(resources, ports).subscriptions()
        )
        session = self._bus.open(beginning.query_id, components, store=beginning.store)
        session.start(beginning.first, must_be_stored=beginning.must_be_stored)
        try:
            await session.begun()
        except TraceError as error:
            raise TraceError(
                f"The question was not taken, because it could not be stored: {error}. Nothing was begun: ask again."
            ) from error
        return Query(session, self._totals)

    async def make_sure(self, query_id: str) -> None:
        """Does nothing: a query that began here runs here, or is over."""

    def trace(self, query_id: str) -> GrowingTrace:
        """Returns the trace of a query that began earlier."""
        return LocalTrace(query_id, self._bus.sessions, self._store)

    async def knows(self, query_id: str) -> bool:
        """Returns False: only the list of traces knows."""
        del query_id
        return False

    async def cancel(self, query_id: str, why: str) -> None:
        """Refuses (TraceStateError): no other process works on queries."""
        del why
        raise not_here(query_id)


def not_here(query_id: str) -> TraceStateError:
    """Returns the error for cancelling a query that nobody works on."""
    return TraceStateError(
        f"query {query_id} does not run here: there is nothing to cancel"
    )
