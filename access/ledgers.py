"""Where it is written down what callers have used; one process has it in the data folder's file."""

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

_WHOSE = "day = ? AND CASE ? WHEN 'key' THEN key_id ELSE tenant END = ?"
_USED = (
    f"SELECT total(requests), total(tokens), total(cost_usd) FROM used WHERE {_WHOSE}"  # noqa: S608 - a constant
)
_SET_ASIDE = f"SELECT total(tokens), total(cost_usd) FROM under_way WHERE {_WHOSE}"  # noqa: S608 - a constant

Grant = Callable[[Balances], Allowance]
"""Returns what a query may use, by what its holders have used; raises QuotaError if that is too little."""


class UnderWay(NamedTuple):
    """A query that was let in and is not settled.

    Attributes:
        tenant: Whose it is; None: its trace says that.
    """

    query_id: str
    key_id: str
    tenant: str | None = None


class Ledger(Protocol):
    """Each method raises BusyError if nothing can be written or read now."""

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
        """Returns the id of the key by which a query was let in that is not settled; None if none was."""

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


def _count(
    connection: sqlite3.Connection, day: str, tenant: str, key_id: str, more: Used
) -> None:
    connection.execute(
        "INSERT INTO used (day, tenant, key_id, requests, tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, tokens = tokens + excluded.tokens, "
        "cost_usd = cost_usd + excluded.cost_usd",
        (day, tenant, key_id, more.requests, more.tokens, more.cost_usd),
    )
