"""Counts what keys and tenants spend against what they may spend in a day, and keeps the counts across restarts.

Before a query begins, one transaction sets aside the most that it may use from what its key and its tenant have left.
The query must stay within that amount, and when it is over, what it really used is counted instead. So many queries at
once cannot use more together than one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import structlog

from antiphon.access.access_file import AccessFile
from antiphon.access.keys import Keys
from antiphon.access.ledgers import FileLedger, Ledger, UnderWay
from antiphon.access.usage import (
    Balance,
    Balances,
    Holder,
    Limits,
    Share,
    Spent,
    UsageReport,
    Used,
    day_end,
    day_of,
    forecast,
    holders_of,
    too_many_at_once,
    used_up,
)
from antiphon.composition import Allowance
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import BadInputError, BusyError

log = structlog.get_logger(__name__)

ALERT_SHARE = 0.8
"""Share of a limit at which the log warns that it will be reached."""


class Quotas:
    """The limits of keys and tenants, and their spending.

    Args:
        ledger: Holds what was spent; None: the file does.
    """

    def __init__(
        self,
        file: AccessFile,
        now: Callable[[], float] = time.time,
        ledger: Ledger | None = None,
    ) -> None:
        self._file = file
        self._now = now
        self._ledger: Ledger = ledger or FileLedger(file)

    def limit(self, kind: str, name: str, limits: Limits) -> None:
        """Sets what a key (by its id) or a tenant may use; None takes a limit away.

        Raises:
            BadInputError: A limit is negative or not a number.
        """
        for field in Limits.__struct_fields__:
            value = getattr(limits, field)
            # "Not at least 0", so that NaN, which compares as False, is refused too.
            if value is not None and not value >= 0:
                raise BadInputError(
                    f"The limit of {field} is {value}: it cannot be less than 0."
                )
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO limits (holder, requests, tokens, cost_usd, at_once) VALUES (?, ?, ?, ?, ?)",
                (
                    f"{kind}:{name}",
                    limits.requests,
                    limits.tokens,
                    limits.cost_usd,
                    limits.at_once,
                ),
            )

    def limits(self, kind: str, name: str) -> Limits:
        """Returns what a key or a tenant may use."""
        rows = self._file.read(
            "SELECT requests, tokens, cost_usd, at_once FROM limits WHERE holder = ?",
            (f"{kind}:{name}",),
        )
        for requests, tokens, cost_usd, at_once in rows:
            return Limits(
                requests=requests, tokens=tokens, cost_usd=cost_usd, at_once=at_once
            )
        return Limits()

    async def reserve(
        self, caller: Principal, query_id: str, wanted: Allowance, least: Allowance
    ) -> Allowance:
        """Sets aside what a query may use, and counts the request.

        Args:
            wanted: The most that the query can use; less is set aside if less is left.
            least: The least with which it can begin.

        Raises:
            QuotaError: Too little is left of a limit, or as many queries as may run are running; nothing was counted.
            BusyError: The ledger cannot be written now.
        """
        now = self._now()

        def grant(balances: Balances) -> Allowance:
            most = wanted
            for holder, balance in balances.items():
                most = self._within(holder, balance, most, least, now)
            return most

        granted = await self._ledger.reserve(caller, query_id, now, grant)
        await self._alert(caller, Used(requests=1), now)
        return self._only_limited(holders_of(caller), granted)

    async def settle(
        self, caller: Principal, query_id: str, used: Spent | None
    ) -> None:
        """Counts what a query used in place of what was set aside; None: it did not begin, and counts as none."""
        await self._ledger.settle(caller, query_id, used)
        if used is not None:
            await self._alert(caller, used, self._now())

    async def key_under_way(self, caller: Principal, query_id: str) -> str | None:
        """Returns the id of the key that let in a query which is not settled yet; None if there is no such query."""
        return await self._ledger.key_of(caller, query_id)

    async def under_way(self) -> Sequence[UnderWay]:
        """Returns the queries that are not settled and whose process may be gone."""
        return await self._ledger.under_way()

    def limit_cost(self, caller: Principal) -> bool:
        """Returns True if the caller's key or tenant has a limit on cost."""
        return any(
            self.limits(each.kind, each.name).cost_usd is not None
            for each in holders_of(caller)
        )

    def enter(self, caller: Principal) -> None:
        """Counts a query that another process let in as running."""
        self._ledger.enter(caller)

    async def report(self, caller: Principal) -> UsageReport:
        """Returns what the caller's key and tenant have used today."""
        now = self._now()
        balances = await self._ledger.balances(caller, now)
        shares = [
            self._share(holder, balance, now) for holder, balance in balances.items()
        ]
        return UsageReport(
            day=day_of(now), resets_at=day_end(now), shares=tuple(shares)
        )

    def _share(self, holder: Holder, balance: Balance, now: float) -> Share:
        return Share(
            holder=holder.kind,
            name=holder.name,
            limits=self.limits(holder.kind, holder.name),
            used=balance.used,
            set_aside=balance.aside,
            at_once=balance.at_once,
            forecast=forecast(balance.used, now),
        )

    def _within(
        self,
        holder: Holder,
        balance: Balance,
        most: Allowance,
        least: Allowance,
        now: float,
    ) -> Allowance:
        """Returns as much of `most` as the holder has left.

        Raises:
            QuotaError: That is less than `least`, or the holder has as many queries as it may have.
        """
        limits = self.limits(holder.kind, holder.name)
        _check_counts(holder, limits, balance, now)
        used, aside = balance.used, balance.aside
        granted: dict[str, float | None] = most._asdict()
        for what, needed in least._asdict().items():
            limit = getattr(limits, what)
            # A query that uses nothing, such as a recorded answer, is let in even with the share used up.
            if limit is None or not needed:
                continue
            unspent = limit - getattr(used, what)
            left = unspent - getattr(aside, what)
            if left < needed:
                raise used_up(holder, what, limits, used, now, waits=unspent >= needed)
            granted[what] = min(granted[what] or 0, left)
        return Allowance(**granted)  # type: ignore[arg-type]  # tokens are whole: so are limits and what is used

    def _only_limited(self, holders: Sequence[Holder], granted: Allowance) -> Allowance:
        """Returns the grant's limited amounts only: callers without a limit are not held to what most queries take."""
        tokens: int | None = None
        cost_usd: float | None = None
        for holder in holders:
            limits = self.limits(holder.kind, holder.name)
            if limits.tokens is not None:
                tokens = granted.tokens
            # A query that costs nothing, such as one to a free model, needs no limit.
            if limits.cost_usd is not None and granted.cost_usd:
                cost_usd = granted.cost_usd
        return Allowance(tokens, cost_usd)

    async def _alert(self, caller: Principal, more: Used, now: float) -> None:
        """Warns in the log, once for each limit, when four fifths of the day's amount are used."""
        limited = [
            holder
            for holder in holders_of(caller)
            if self.limits(holder.kind, holder.name) != Limits()
        ]
        # On NATS reading the balances is a round trip: not for callers without limits.
        if not limited:
            return
        try:
            balances = await self._ledger.balances(caller, now)
        # The use itself is counted already: only the warning is lost.
        except BusyError as error:
            log.warning("quotas_not_looked_at", error=str(error))
            return
        for holder in limited:
            self._alert_of(holder, balances[holder].used, more, now)

    def _alert_of(self, holder: Holder, used: Used, more: Used, now: float) -> None:
        limits = self.limits(holder.kind, holder.name)
        for what in Used.__struct_fields__:
            most = getattr(limits, what)
            spent = getattr(used, what)
            if most is None:
                continue
            # Only the amount that crosses the line warns, so the log needs no memory of what it has said.
            line = ALERT_SHARE * most
            if spent - getattr(more, what) < line <= spent:
                log.warning(
                    "quota_alert",
                    holder=holder.row,
                    what=what,
                    used=spent,
                    limit=most,
                    forecast=getattr(forecast(used, now), what),
                    resets_at=day_end(now),
                )


def _check_counts(holder: Holder, limits: Limits, balance: Balance, now: float) -> None:
    """Refuses a query if the holder has as many under way, or has asked as many today, as it may."""
    if limits.at_once is not None and balance.at_once >= limits.at_once:
        raise too_many_at_once(holder, limits.at_once, balance.at_once)
    if limits.requests is not None and balance.used.requests >= limits.requests:
        raise used_up(holder, "requests", limits, balance.used, now)


async def shares_of(file: AccessFile, ledger: Ledger | None = None) -> Sequence[Share]:
    """Returns what each key and tenant has used today.

    Args:
        ledger: Holds what was spent; None: the file does.

    Raises:
        BusyError: The ledger cannot be read now.
    """
    quotas = Quotas(file, ledger=ledger)
    found: dict[tuple[str, str], Share] = {}
    for key in Keys(file).listed():
        caller = Principal(tenant=key.tenant, scopes=frozenset(), key_id=key.key_id)
        for share in (await quotas.report(caller)).shares:
            found[share.holder, share.name] = share
    return list(found.values())
