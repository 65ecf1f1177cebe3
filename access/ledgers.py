"""Ledgers of what callers have used; a service of one process keeps its ledger in the data folder's file."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from antiphon.access.access_file import AccessFile
from antiphon.access.usage import (
    Balance,
    Balances,
    Holder,
    Spent,
    Used,
    day_of,
    holders_of,
    settled,
)
from antiphon.composition import Allowance
from antiphon.vocabulary.access import Principal

# A holder is a key or a tenant: one statement reads the rows of either by its kind.
_WHOSE = "day = ? AND CASE ? WHEN 'key' THEN key_id ELSE tenant END = ?"
_USED = (
    f"SELECT total(requests), total(tokens), total(cost_usd) FROM used WHERE {_WHOSE}"  # noqa: S608 - a constant
)
_SET_ASIDE = f"SELECT total(tokens), total(cost_usd) FROM under_way WHERE {_WHOSE}"  # noqa: S608 - a constant

Grant = Callable[[Balances], Allowance]
"""Decides by its holders' balances what a query may use; raises QuotaError if that is too little."""


class UnderWay(NamedTuple):
    """A query that was let in and is not settled.

    Attributes:
        tenant: The tenant who asked; None: the trace names it.
    """

    query_id: str
    key_id: str
    tenant: str | None = None


class Ledger(Protocol):
    """A record of what callers have used. Its methods raise BusyError while it cannot be written or read."""

    async def reserve(
        self, caller: Principal, query_id: str, now: float, grant: Grant
    ) -> Allowance:
        """Counts a request and sets aside what is granted, as one step: no other query gets in between."""

    async def settle(
        self, caller: Principal, query_id: str, spent: Spent | None
    ) -> None:
        """Counts what a query used in place of what was set aside, once; None: it did not begin."""

    async def balances(self, caller: Principal, now: float) -> Balances:
        """Returns what the caller's key and tenant have used today."""

    async def under_way(self) -> Sequence[UnderWay]:
        """Returns the queries that are not settled and whose process may be gone."""

    async def key_of(self, caller: Principal, query_id: str) -> str | None:
        """Returns the id of the key that let in a query which is not settled yet; None if there is no such query."""

    def enter(self, caller: Principal) -> None:
        """Counts a query that another process let in as running."""


class FileLedger:
    """The tables of the data folder's file; only this process's queries count towards `at_once`."""

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
        # No await since the write, so no other query has read the count in between.
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
            # In the same transaction: a query is counted once, however often it is settled.
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


def _count(
    connection: sqlite3.Connection, day: str, tenant: str, key_id: str, more: Used
) -> None:
    connection.execute(
        "INSERT INTO used (day, tenant, key_id, requests, tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, tokens = tokens + excluded.tokens, "
        "cost_usd = cost_usd + excluded.cost_usd",
        (day, tenant, key_id, more.requests, more.tokens, more.cost_usd),
    )
