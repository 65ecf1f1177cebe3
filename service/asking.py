"""How a caller's question becomes a query: let in, counted, received and begun, here or by a worker elsewhere."""

from __future__ import annotations

from antiphon.access import Need, bounded, need_of
from antiphon.composition import (
    Interceptor,
    Query,
    Resources,
    check_question,
    wire,
)
from antiphon.composition.intake import Intake
from antiphon.composition.question import Question
from antiphon.service.runtime import Runtime
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import ForbiddenError, SequenceError, TraceError
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.settings import QuerySettings
from antiphon.workers import RemoteQueries


class Asking:
    """The questions of one caller, who sees the resources and the store given.

    Args:
        remote: The way to the workers in other processes; None where this process works on queries itself.
    """

    def __init__(
        self,
        principal: Principal,
        runtime: Runtime,
        resources: Resources,
        store: TraceStore,
        intake: Intake,
        remote: RemoteQueries | None,
    ) -> None:
        self._principal = principal
        self._runtime = runtime
        self._resources = resources
        self._store = store
        self._intake = intake
        self._remote = remote

    async def start(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        *,
        must_be_stored: bool,
    ) -> Query:
        """Begins to work on a question. Takes and raises what `Antiphon.start` does."""
        if self._remote is not None:
            return await self._queue(question, interceptor, query_id, self._remote)
        async with self._runtime.admission.place(query_id):
            return await self._let_in(
                question, interceptor, query_id, must_be_stored=must_be_stored
            )

    async def _queue(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        remote: RemoteQueries,
    ) -> Query:
        """Begins a query that a worker will go on with."""
        if interceptor.faults:
            raise ForbiddenError(
                "Fault plans are not taken where workers answer: they are for a service of one process."
            )
        self._runtime.admission.check_open()
        settings = check_question(question, self._runtime.settings).settings
        async with remote.in_time(query_id, settings.deadline_s):
            await remote.let_in()
            try:
                return await self._let_in(
                    question, interceptor, query_id, must_be_stored=True
                )
            except SequenceError:
                # The same was asked of two nodes at once, and the other was first.
                await remote.make_sure(query_id)
                return Query(remote.trace(query_id))

    async def _let_in(
        self,
        question: Question,
        interceptor: Interceptor,
        query_id: str,
        *,
        must_be_stored: bool,
    ) -> Query:
        """Begins a query within what is left of its caller's share, and has it counted."""
        metering = self._runtime.metering
        need = Need()
        settings: QuerySettings | None = None
        if self._principal.key_id:
            # What cannot be asked is not counted.
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
        # The conversation is read from the same store that the query is recorded in: it may be made to fail.
        store = interceptor.store(self._store)
        first = await self._intake.receive(question, store, interceptor)
        # The service may have begun to close while the conversation was read.
        self._runtime.admission.check_open()
        totals = self._runtime.totals
        if self._remote is not None:
            return await self._remote.begin(
                query_id, first, totals, is_new=question.session_id is None
            )
        resources = interceptor.resources(self._resources)
        components = interceptor.components(
            lambda ports: wire(resources, ports).subscriptions()
        )
        session = self._runtime.bus.open(query_id, components, store=store)
        session.start(first, must_be_stored=must_be_stored)
        try:
            await session.begun()
        except TraceError as error:
            raise TraceError(
                f"The question was not taken, for it could not be stored: {error}. Nothing was begun: ask again."
            ) from error
        return Query(session, totals)
