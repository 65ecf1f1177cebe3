"""Where it is written down what callers have used: in the data folder's file, or on NATS for all nodes together."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from antiphon import cluster
from antiphon.access.access_file import AccessFile
from antiphon.access.accounts import Account, SetAside
from antiphon.access.usage import (
    Allowance,
    Balance,
    Balances,
    Holder,
    Spent,
    Used,
    day_of,
    holders_of,
    settled,
)
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import BusyError, RemoteError, SequenceError

_WHOSE = "day = ? AND CASE ? WHEN 'key' THEN key_id ELSE tenant END = ?"
_USED = (
    f"SELECT total(requests), total(tokens), total(cost_usd) FROM used WHERE {_WHOSE}"  # noqa: S608 - a constant
)
_SET_ASIDE = f"SELECT total(tokens), total(cost_usd) FROM under_way WHERE {_WHOSE}"  # noqa: S608 - a constant
_ACCOUNTS = "account."
OTHERS_S = 30.0
"""Seconds after which a query under way on NATS is looked after by every node: whichever let it in may be gone."""

Grant = Callable[[Balances], Allowance]
"""Returns what a query may use, by what its holders have used; raises QuotaError where that is too little."""


class UnderWay(NamedTuple):
    """A query that was let in and is not settled.

    Attributes:
        tenant: Whose it is; None: its trace says that.
    """

    query_id: str
    key_id: str
    tenant: str | None = None


class Ledger(Protocol):
    """Each method raises BusyError where nothing can be written or read now."""

    async def reserve(
        self, caller: Principal, query_id: str, now: float, grant: Grant
    ) -> Allowance:
        """Counts a request, and sets aside what is granted; nobody else is let in between the look and the count."""

    async def settle(
        self, caller: Principal, query_id: str, spent: Spent | None
    ) -> None:
        """Counts what a query used in the place of what was set aside, once; None: it did not begin."""

    async def balances(self, caller: Principal, now: float) -> Balances:
        """Returns what the caller's key and tenant have used today."""

    async def under_way(self) -> Sequence[UnderWay]:
        """Returns the queries that a process let in which may be gone."""

    async def key_of(self, caller: Principal, query_id: str) -> str | None:
        """Returns the id of the key by which a query was let in that is not settled; None where none was."""

    def enter(self, caller: Principal) -> None:
        """Counts one more query as running that another process let in."""


class FileLedger:
    """The tables of the data folder's file; which queries run is known of this process alone."""

    def __init__(self, file: AccessFile) -> None:
        self._file = file
        self._at_once: Counter[str] = Counter()

    async def reserve(
        self, caller: Principal, query_id: str, now: float, grant: Grant
    ) -> Allowance:
        day = day_of(now)

        def write(connection: sqlite3.Connection) -> Allowance:
            granted = grant(self._balances(caller, day))
            connection.execute(
                "INSERT OR REPLACE INTO under_way (query_id, day, tenant, key_id, tokens, cost_usd) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (query_id, day, caller.tenant, caller.key_id, *granted),
            )
            _count(connection, day, caller.tenant, caller.key_id, Used(requests=1))
            return granted

        granted = await self._file.write(write)
        # Nothing was waited for since it was written: nobody else has looked meanwhile.
        self.enter(caller)
        return granted

    async def settle(
        self, caller: Principal, query_id: str, spent: Spent | None
    ) -> None:
        for holder in holders_of(caller):
            self._at_once[holder.row] -= 1

        def write(connection: sqlite3.Connection) -> None:
            rows = connection.execute(
                "SELECT day, tenant, key_id, tokens, cost_usd FROM under_way WHERE query_id = ?",
                (query_id,),
            ).fetchall()
            for day, tenant, key_id, tokens, cost_usd in rows:
                aside = Used(tokens=tokens, cost_usd=cost_usd)
                counted = settled(aside, spent)
                _count(connection, day, tenant, key_id, counted)
            connection.execute("DELETE FROM under_way WHERE query_id = ?", (query_id,))

        await self._file.write(write)

    async def balances(self, caller: Principal, now: float) -> Balances:
        return self._balances(caller, day_of(now))

    async def under_way(self) -> Sequence[UnderWay]:
        rows = self._file.read("SELECT query_id, key_id FROM under_way", ())
        return [UnderWay(query_id, key_id) for query_id, key_id in rows]

    async def key_of(self, caller: Principal, query_id: str) -> str | None:
        del caller  # one file holds the queries of all tenants
        for (key_id,) in self._file.read(
            "SELECT key_id FROM under_way WHERE query_id = ?", (query_id,)
        ):
            return str(key_id)
        return None

    def enter(self, caller: Principal) -> None:
        for holder in holders_of(caller):
            self._at_once[holder.row] += 1

    def _balances(self, caller: Principal, day: str) -> Balances:
        return {holder: self._balance(holder, day) for holder in holders_of(caller)}

    def _balance(self, holder: Holder, day: str) -> Balance:
        whose = (day, holder.kind, holder.name)
        [(requests, tokens, cost_usd)] = self._file.read(_USED, whose) or [(0, 0, 0.0)]
        [(aside_tokens, aside_usd)] = self._file.read(_SET_ASIDE, whose) or [(0, 0.0)]
        return Balance(
            Used(requests=int(requests), tokens=int(tokens), cost_usd=cost_usd),
            Used(tokens=int(aside_tokens), cost_usd=aside_usd),
            self._at_once[holder.row],
        )


class SharedLedger:
    """The accounts on NATS, a value a tenant: what one node lets in counts for all."""

    def __init__(self, state: cluster.SharedState) -> None:
        self._state = state
        # Of one node's queries each waits for the one before: only nodes meet one another's changes.
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._accounts: dict[str, cluster.SharedValue[Account]] = {}

    async def reserve(
        self, caller: Principal, query_id: str, now: float, grant: Grant
    ) -> Allowance:
        granted = Allowance()
        day = day_of(now)

        def rule(account: Account) -> Account:
            nonlocal granted
            # Asked of two nodes at once: what the first has set aside is not to be taken back with the second's.
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
        """Needs no count: it is among those under way for everybody."""

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


def _count(
    connection: sqlite3.Connection, day: str, tenant: str, key_id: str, more: Used
) -> None:
    connection.execute(
        "INSERT INTO used (day, tenant, key_id, requests, tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, tokens = tokens + excluded.tokens, "
        "cost_usd = cost_usd + excluded.cost_usd",
        (day, tenant, key_id, more.requests, more.tokens, more.cost_usd),
    )
