"""Lets in the queries of callers with a key, holds them to what is left of their share, and counts what they used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import structlog
from msgspec.structs import replace

from antiphon.access.ledgers import UnderWay
from antiphon.access.quotas import Quotas
from antiphon.access.usage import Spent
from antiphon.composition import UNBOUND, Allowance, Need, Query
from antiphon.composition.spending import Charge, total_of
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import (
    ConfigurationError,
    NotFoundError,
    ServiceError,
    SupersededError,
)
from antiphon.vocabulary.ports import EventLog

log = structlog.get_logger(__name__)


def spent_on(charges: Sequence[Charge]) -> Spent:
    """Returns what calls have spent; one without a known price adds its tokens alone."""
    tokens, cost_usd = total_of(charges)
    return Spent(tokens=tokens, cost_usd=cost_usd, is_known=None not in charges)


LOOK_EVERY_S = 10.0
"""Seconds between two looks for queries whose process may be gone."""

Find = Callable[[UnderWay], tuple[Principal, Query]]
"""Returns the caller who asked a query, and the query."""


class KeyMetering:
    """The queries under way of callers with a key; each service has one. Callers without a key are not counted.

    Satisfies `composition.Metering`.

    Args:
        store: Holds the traces of all tenants.
    """

    def __init__(self, quotas: Quotas, store: EventLog) -> None:
        self._quotas = quotas
        self._store = store
        self._opened_by: dict[str, str] = {}
        self._watching: set[asyncio.Task[None]] = set()

    def counts(self, caller: Principal) -> bool:
        """Returns True for a caller with a key."""
        return bool(caller.key_id)

    def opened(self, caller: Principal, query_id: str) -> bool:
        """Returns True if the caller may see a query under way: their tenant opened it, or they see everybody's."""
        return caller.sees_all or self._opened_by.get(query_id) == caller.tenant

    def watches(self, query_id: str) -> bool:
        """Returns True for a query under way that this service will count when it is over."""
        return query_id in self._opened_by

    async def counted_all(self, caller: Principal, query_id: str) -> bool:
        """Returns False for a query that is not settled because its process is gone: its use is still to be counted."""
        return await self._quotas.key_under_way(caller, query_id) is None

    @asynccontextmanager
    async def let_in(
        self, caller: Principal, query_id: str, need: Need
    ) -> AsyncIterator[Allowance]:
        """Reserves a query's share before it begins, and gives it back if it does not begin after all.

        Raises:
            QuotaError: The share of the key or the tenant is used up.
            ConfigurationError: The caller's cost is limited, and the price of the model is not known.
        """
        if not caller.key_id:
            yield UNBOUND
            return
        if need.problem is not None and self._quotas.limit_cost(caller):
            raise ConfigurationError(need.problem)
        most = Allowance(need.tokens, need.cost_usd)
        allowance = await self._quotas.reserve(caller, query_id, most, need.least)
        self._opened_by[query_id] = caller.tenant
        try:
            yield allowance
        # A cancellation too: a caller who hangs up here must not leave the share set aside for the day.
        except BaseException:
            del self._opened_by[query_id]
            await self._quotas.settle(caller, query_id, None)
            raise

    def watch(self, caller: Principal, query: Query, *, paid_too: bool = False) -> None:
        """Waits in a task of its own for the end of a query that was let in, and counts what it used.

        Args:
            paid_too: Counts also what the query used before it was resumed: the process that let it in is gone and
                counted nothing.
        """
        if not caller.key_id:
            return
        self._opened_by[query.query_id] = caller.tenant
        task = asyncio.create_task(
            self._settle(caller, query, paid_too=paid_too), name="count a query"
        )
        self._watching.add(task)
        task.add_done_callback(self._watching.discard)

    def watch_resumed(self, caller: Principal, query: Query) -> None:
        """Does the same for a query of a process that is gone, which the service finds when it starts."""
        self._quotas.enter(caller)
        self.watch(caller, query, paid_too=True)

    async def _settle(self, caller: Principal, query: Query, *, paid_too: bool) -> None:
        # Callers of the query get its failure; here it only has to be over.
        [outcome] = await asyncio.gather(query.outcome(), return_exceptions=True)
        self._opened_by.pop(query.query_id, None)
        is_gone = await self._is_gone(query.query_id, outcome)
        if not (is_gone or query.is_over):
            # The service ended before the query did: the process that resumes it will count all of it.
            return
        used = spent_on(query.charges(paid_too=paid_too))
        if is_gone:
            # Deleted meanwhile, or never begun: the reserve counts, or a caller could delete a query to pay nothing.
            used = replace(used, is_known=False)
        try:
            await self._quotas.settle(caller, query.query_id, used)
        except ServiceError as error:
            # The reserve stays set aside: better to count too much than too little.
            log.warning("use_not_counted", query_id=query.query_id, error=str(error))

    async def _is_gone(self, query_id: str, outcome: object) -> bool:
        """Returns True for a query without a trace: no process will resume it."""
        # Superseded has two causes: another process resumed the query, or a caller deleted its trace.
        if isinstance(outcome, SupersededError):
            try:
                await self._store.read(query_id)
            except NotFoundError:
                return True
            except ServiceError as error:
                log.warning("use_not_counted", query_id=query_id, error=str(error))
        return isinstance(outcome, NotFoundError)

    async def close(self) -> None:
        """Waits until every query that is over is counted."""
        await asyncio.gather(*self._watching, return_exceptions=True)


async def count_earlier(quotas: Quotas, metering: KeyMetering, find: Find) -> None:
    """Counts the use of queries whose process may be gone; looks for them again and again until it is cancelled."""
    while True:
        try:
            for each in await quotas.under_way():
                if not metering.watches(each.query_id):
                    metering.watch_resumed(*find(each))
        except ServiceError as error:
            log.warning("earlier_queries_not_counted", error=str(error))
        await asyncio.sleep(LOOK_EVERY_S)
