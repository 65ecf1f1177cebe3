"""Lets the queries of callers with a key in, holds them to what is left of their share, and counts what they used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

import structlog
from msgspec.structs import replace

from antiphon.access.quotas import Quotas
from antiphon.access.usage import Allowance, Spent
from antiphon.composition import Query, Question, Resources, rates_of, unpriced
from antiphon.composition.intake import BYTES_A_TOKEN
from antiphon.composition.spending import Charge
from antiphon.engine import fixed_size
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import (
    ConfigurationError,
    NotFoundError,
    ServiceError,
    SupersededError,
)
from antiphon.vocabulary.ports import EventLog
from antiphon.vocabulary.settings import QuerySettings

log = structlog.get_logger(__name__)

MARGIN = 1.5
"""A query may want so many times what its calls take by themselves: for retries, and for estimates that are too low."""
UNBOUND = Allowance()
_LEAST_BRIEFING = 200
"""Tokens of the smallest briefing that a setting allows."""


class Need(NamedTuple):
    """The most that a query may want.

    Attributes:
        least: What a single call takes: where less is left, there is nothing to begin.
        problem: Why its cost cannot be kept within a limit; None where it can.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    least: Allowance = Allowance(0, 0.0)
    problem: str | None = None


def need_of(
    settings: QuerySettings, resources: Resources, calls: int | None = None
) -> Need:
    """Returns the most that a query may want: its calls with full briefings and replies, or its own limits.

    Args:
        calls: The calls that it makes at most; None: those of a whole query.
    """
    if calls is None:
        calls = settings.max_rounds + 1
    if calls == 0:
        return Need()
    rates = rates_of(settings, resources)
    fixed = fixed_size(settings.max_rounds, resources.tool_definitions) // BYTES_A_TOKEN
    shown = settings.briefing_tokens + fixed
    # The final call thinks most.
    written = settings.max_tokens
    written += max([rate.final_thinking for rate in rates], default=0)
    tokens = round(calls * (shown + written) * MARGIN)
    dearest = max([rate.cost(shown, written) for rate in rates], default=0.0)
    cost_usd = calls * dearest * MARGIN
    if settings.max_total_tokens is not None:
        tokens = min(tokens, settings.max_total_tokens)
    if settings.max_cost_usd is not None:
        cost_usd = min(cost_usd, settings.max_cost_usd)
    # As the query itself reckons (coordinator/budget.py): no call is made that might not be paid for.
    smallest = round((fixed + _LEAST_BRIEFING) * MARGIN)
    # The reasoner that stands in is free, and no reason to begin.
    costs = [rate.cost(smallest, written) for rate in rates if rate.output]
    least = Allowance(
        min(tokens, smallest + written),
        min(cost_usd, min(costs, default=0.0)),
    )
    problem = unpriced(replace(settings, max_cost_usd=0.0), rates)
    return Need(tokens, cost_usd, least, problem)


def bounded(
    question: Question, settings: QuerySettings, allowance: Allowance
) -> Question:
    """Returns the question with settings by which it stays within what it may use."""
    if allowance == UNBOUND:
        return question
    return Question(
        query=question.query,
        session_id=question.session_id,
        settings=within(settings, allowance),
    )


def within(settings: QuerySettings, allowance: Allowance) -> QuerySettings:
    """Returns the settings, with limits that are no larger than what is allowed."""
    if allowance.tokens is not None:
        settings = replace(settings, max_total_tokens=allowance.tokens)
    if allowance.cost_usd is not None:
        settings = replace(settings, max_cost_usd=allowance.cost_usd)
    return settings


def spent_on(charges: Sequence[Charge]) -> Spent:
    """Returns what calls are counted for; one whose price is not known counts by its tokens alone."""
    tokens = 0
    cost_usd = 0.0
    for charge in charges:
        if charge is not None:
            tokens += charge.all_tokens
            cost_usd += charge.cost_usd or 0.0
    return Spent(tokens=tokens, cost_usd=cost_usd, is_known=None not in charges)


class Metering:
    """The queries under way of callers with a key; one a service. Callers without a key are not counted.

    Args:
        store: Holds the traces of all of them.
    """

    def __init__(self, quotas: Quotas, store: EventLog) -> None:
        self._quotas = quotas
        self._store = store
        self._opened_by: dict[str, str] = {}
        self._watching: set[asyncio.Task[None]] = set()

    def opened(self, query_id: str, tenant: str) -> bool:
        """Returns True for a query under way that the tenant has opened."""
        return self._opened_by.get(query_id) == tenant

    def watches(self, query_id: str) -> bool:
        """Returns True for a query under way that is counted here when it is over."""
        return query_id in self._opened_by

    async def counted_all(self, caller: Principal, query_id: str) -> bool:
        """Returns False for a query that a process let in which is gone: nothing that it used is counted yet."""
        return await self._quotas.key_under_way(caller, query_id) is None

    @asynccontextmanager
    async def let_in(
        self, caller: Principal, query_id: str, need: Need
    ) -> AsyncIterator[Allowance]:
        """Counts a query in before it begins, and out again where it does not begin after all.

        Raises:
            QuotaError: The share of the key or the tenant is used up.
            ConfigurationError: Its cost is limited, and what its model costs is not known.
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
        except BaseException:
            del self._opened_by[query_id]
            await self._quotas.settle(caller, query_id, None)
            raise

    def watch(self, caller: Principal, query: Query, *, paid_too: bool = False) -> None:
        """Waits for the end of a query that was let in, whoever else does, and counts what it used.

        Args:
            paid_too: And what it used before it was resumed: the process that let it in is gone and counted nothing.
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
        """Does the same for a query that a process let in which is gone, as the service finds it when it starts."""
        self._quotas.enter(caller)
        self.watch(caller, query, paid_too=True)

    async def _settle(self, caller: Principal, query: Query, *, paid_too: bool) -> None:
        # Whoever asked is told of a failure; here the query only has to be over.
        [outcome] = await asyncio.gather(query.outcome(), return_exceptions=True)
        self._opened_by.pop(query.query_id, None)
        is_gone = await self._is_gone(query.query_id, outcome)
        if not (is_gone or query.is_over):
            # One that the end of the service broke off is counted as a whole by the process that goes on with it.
            return
        used = spent_on(query.charges(paid_too=paid_too))
        if is_gone:
            # Deleted meanwhile, or never begun: what was set aside counts, or whoever deletes would pay nothing.
            used = replace(used, is_known=False)
        try:
            await self._quotas.settle(caller, query.query_id, used)
        except ServiceError as error:
            # What was set aside for it stays so: rather too much is counted than too little.
            log.warning("use_not_counted", query_id=query.query_id, error=str(error))

    async def _is_gone(self, query_id: str, outcome: object) -> bool:
        """Returns True for a query without a trace: nobody will go on with it."""
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
