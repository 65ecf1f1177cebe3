"""The usage of callers and the reservations for their queries, on NATS for all nodes together."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from antiphon import cluster
from antiphon.access import (
    Balances,
    Grant,
    Spent,
    UnderWay,
    day_of,
    holders_of,
)
from antiphon.composition import Allowance
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import BusyError, RemoteError, SequenceError
from antiphon.workers.accounts import Account, SetAside

_ACCOUNTS = "account."
OTHERS_S = 30.0
"""Seconds after which every node may settle a query under way, because the node that admitted it may be gone."""


class SharedLedger:
    """The accounts on NATS, one value per tenant: a query admitted by one node counts for all. An `access.Ledger`."""

    def __init__(self, state: cluster.SharedState) -> None:
        self._state = state
        # A node's own changes to an account take turns, so that only changes by other nodes can collide with them.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._accounts: dict[str, cluster.SharedValue[Account]] = {}

    async def reserve(
        self, caller: Principal, query_id: str, now: float, grant: Grant
    ) -> Allowance:
        granted = Allowance()
        day = day_of(now)

        def rule(account: Account) -> Account:
            nonlocal granted
            # Two nodes were asked the same query at once: the second must not settle the reservation of the first.
            if query_id in account.under_way:
                raise SequenceError(query_id, 0, 1)
            granted = grant(_balances(account, caller, day))
            query = SetAside(
                day, caller.key_id, granted.tokens or 0, granted.cost_usd or 0.0, now
            )
            return account.with_query(query_id, query)

        await self._change(caller.tenant, rule)
        return granted

    async def settle(
        self, caller: Principal, query_id: str, spent: Spent | None
    ) -> None:
        await self._change(
            caller.tenant, lambda account: account.settled(query_id, spent)
        )

    async def balances(self, caller: Principal, now: float) -> Balances:
        return _balances(await self._read(caller.tenant), caller, day_of(now))

    async def under_way(self) -> Sequence[UnderWay]:
        found: list[UnderWay] = []
        with _as_busy():
            tenants = await self._state.names(_ACCOUNTS)
        for tenant in tenants:
            account = await self._read(tenant)
            for query_id, query in account.under_way.items():
                if time.time() - query.at > OTHERS_S:
                    found.append(UnderWay(query_id, query.key_id, tenant))
        return found

    async def key_of(self, caller: Principal, query_id: str) -> str | None:
        query = (await self._read(caller.tenant)).under_way.get(query_id)
        if query is None:
            return None
        return query.key_id

    def enter(self, caller: Principal) -> None:
        """Does nothing: the account already counts the query as under way."""

    def _account(self, tenant: str) -> cluster.SharedValue[Account]:
        if tenant not in self._accounts:
            self._accounts[tenant] = self._state.value(_ACCOUNTS, tenant, Account)
        return self._accounts[tenant]

    async def _change(self, tenant: str, rule: Callable[[Account], Account]) -> None:
        with _as_busy():
            async with self._turns[tenant]:
                await self._account(tenant).change(
                    lambda account: rule(account or Account())
                )

    async def _read(self, tenant: str) -> Account:
        with _as_busy():
            found = await self._account(tenant).read()
        return found or Account()


def _balances(account: Account, caller: Principal, day: str) -> Balances:
    return {holder: account.balance(holder, day) for holder in holders_of(caller)}


@contextmanager
def _as_busy() -> Iterator[None]:
    try:
        yield
    except RemoteError as error:
        raise BusyError(
            "What is spent cannot be counted now, so nothing is spent: ask again in a moment."
        ) from error
