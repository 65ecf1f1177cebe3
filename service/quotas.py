"""Counts what keys and tenants spend against what they may spend in a day; a restart forgets nothing of it.

Before a query begins, the most that it may use is set aside from what its key and its tenant have left, in one
transaction; it is told to stay within that; and when it is over, what it used takes that place. So many queries at once
cannot use more together than one after the other.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Sequence

import structlog

from antiphon.service.access_file import AccessFile
from antiphon.service.usage import (
    Allowance,
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
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import BadInputError

_WHOSE = "day = ? AND CASE ? WHEN 'key' THEN key_id ELSE tenant END = ?"
_USED = (
    f"SELECT total(requests), total(tokens), total(cost_usd) FROM used WHERE {_WHOSE}"  # noqa: S608 - a constant
)
_SET_ASIDE = f"SELECT total(tokens), total(cost_usd) FROM under_way WHERE {_WHOSE}"  # noqa: S608 - a constant

log = structlog.get_logger(__name__)

ALERT_SHARE = 0.8
"""Share of a limit from which on the log says that it will be reached."""


class Quotas:
    """The limits and what was spent under them."""

    def __init__(self, file: AccessFile, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._now = now
        # Of this process alone: what another one answers, it keeps to its own capacity.
        self._at_once: Counter[str] = Counter()

    def limit(self, kind: str, name: str, limits: Limits) -> None:
        """Sets what a key (by its id) or a tenant may use; a limit that is None is taken away.

        Raises:
            BadInputError: A limit is below nothing.
        """
        for field in Limits.__struct_fields__:
            value = getattr(limits, field)
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
            wanted: The most that it may want: no more is set aside, and less where less is left.
            least: With less there is nothing to begin.

        Raises:
            QuotaError: Too little is left of a limit, or so many queries run already; nothing was counted.
            BusyError: It cannot be counted now.
        """
        now = self._now()
        holders = holders_of(caller)
        for holder in holders:
            self._check_at_once(holder)

        def write(connection: sqlite3.Connection) -> Allowance:
            most = wanted
            for holder in holders:
                most = self._within(holder, most, least, now)
            day = day_of(now)
            connection.execute(
                "INSERT OR REPLACE INTO under_way (query_id, day, tenant, key_id, tokens, cost_usd) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                (query_id, day, caller.tenant, caller.key_id, *most),
            )
            _count(connection, day, caller.tenant, caller.key_id, Used(requests=1))
            return most

        # Before anything is awaited: between the look and the count nobody else may pass.
        for holder in holders:
            self._at_once[holder.row] += 1
        try:
            granted = await self._file.write(write)
        except BaseException:
            self._leave(holders)
            raise
        self._alert(holders, Used(requests=1), now)
        return self._only_limited(holders, granted)

    async def settle(
        self, caller: Principal, query_id: str, used: Spent | None
    ) -> None:
        """Counts what a query used in the place of what was set aside; None: it did not begin, and counts as none."""
        holders = holders_of(caller)
        self._leave(holders)
        await self.count(query_id, used)
        if used is not None:
            self._alert(holders, used, self._now())

    async def count(self, query_id: str, used: Spent | None) -> None:
        """Counts for a query that was let in before, here or by a process that is gone; any other is nobody's."""

        def write(connection: sqlite3.Connection) -> None:
            rows = connection.execute(
                "SELECT day, tenant, key_id, tokens, cost_usd FROM under_way WHERE query_id = ?",
                (query_id,),
            ).fetchall()
            for day, tenant, key_id, tokens, cost_usd in rows:
                counted: Used = Used(requests=-1)
                if used is not None and used.is_known:
                    counted = used
                elif used is not None:
                    counted = Used(
                        tokens=max(tokens, used.tokens),
                        cost_usd=max(cost_usd, used.cost_usd),
                    )
                _count(connection, day, tenant, key_id, counted)
            connection.execute("DELETE FROM under_way WHERE query_id = ?", (query_id,))

        await self._file.write(write)

    def key_under_way(self, query_id: str) -> str | None:
        """Returns the id of the key by which a query was let in that is not settled; None where none was."""
        for (key_id,) in self._file.read(
            "SELECT key_id FROM under_way WHERE query_id = ?", (query_id,)
        ):
            return str(key_id)
        return None

    def under_way(self) -> tuple[str, ...]:
        """Returns the queries that were let in and are not settled, by this process or one before it."""
        rows = self._file.read("SELECT query_id FROM under_way", ())
        return tuple([str(query_id) for (query_id,) in rows])

    def limit_cost(self, caller: Principal) -> bool:
        """Returns True if what the caller's queries cost is limited."""
        return any(
            self.limits(each.kind, each.name).cost_usd is not None
            for each in holders_of(caller)
        )

    def enter(self, caller: Principal) -> None:
        """Counts one more query as running that another process let in."""
        for holder in holders_of(caller):
            self._at_once[holder.row] += 1

    def report(self, caller: Principal) -> UsageReport:
        """Returns what the caller's key and tenant have used today."""
        now = self._now()
        shares = [self._share(holder, now) for holder in holders_of(caller)]
        return UsageReport(
            day=day_of(now), resets_at=day_end(now), shares=tuple(shares)
        )

    def _share(self, holder: Holder, now: float) -> Share:
        used, set_aside = self._sums(holder, day_of(now))
        return Share(
            holder=holder.kind,
            name=holder.name,
            limits=self.limits(holder.kind, holder.name),
            used=used,
            set_aside=set_aside,
            at_once=self._at_once[holder.row],
            forecast=forecast(used, now),
        )

    def _sums(self, holder: Holder, day: str) -> tuple[Used, Used]:
        """Returns what is spent, and what is set aside."""
        whose = (day, holder.kind, holder.name)
        [(requests, tokens, cost_usd)] = self._file.read(_USED, whose) or [(0, 0, 0.0)]
        [(aside_tokens, aside_usd)] = self._file.read(_SET_ASIDE, whose) or [(0, 0.0)]
        used = Used(requests=int(requests), tokens=int(tokens), cost_usd=cost_usd)
        return used, Used(tokens=int(aside_tokens), cost_usd=aside_usd)

    def _within(
        self, holder: Holder, most: Allowance, least: Allowance, now: float
    ) -> Allowance:
        """Returns as much of `most` as the holder has left.

        Raises:
            QuotaError: That is less than `least`.
        """
        limits = self.limits(holder.kind, holder.name)
        used, aside = self._sums(holder, day_of(now))
        if limits.requests is not None and used.requests >= limits.requests:
            raise used_up(holder, "requests", limits, used, now)
        granted: dict[str, float | None] = most._asdict()
        for what, needed in least._asdict().items():
            limit = getattr(limits, what)
            # What takes nothing, as an answer from a recording, is not held up by a share that is used.
            if limit is None or not needed:
                continue
            unspent = limit - getattr(used, what)
            left = unspent - getattr(aside, what)
            if left < needed:
                raise used_up(holder, what, limits, used, now, waits=unspent >= needed)
            granted[what] = min(granted[what] or 0, left)
        return Allowance(**granted)  # type: ignore[arg-type]  # tokens are whole: so are limits and what is used

    def _only_limited(self, holders: Sequence[Holder], granted: Allowance) -> Allowance:
        """Returns what was granted as far as a limit says so: who has none is not held to what most queries take."""
        tokens: int | None = None
        cost_usd: float | None = None
        for holder in holders:
            limits = self.limits(holder.kind, holder.name)
            if limits.tokens is not None:
                tokens = granted.tokens
            # What is free needs no limit.
            if limits.cost_usd is not None and granted.cost_usd:
                cost_usd = granted.cost_usd
        return Allowance(tokens, cost_usd)

    def _check_at_once(self, holder: Holder) -> None:
        most = self.limits(holder.kind, holder.name).at_once
        running = self._at_once[holder.row]
        if most is not None and running >= most:
            raise too_many_at_once(holder, most, running)

    def _leave(self, holders: Sequence[Holder]) -> None:
        for holder in holders:
            self._at_once[holder.row] -= 1
            if not self._at_once[holder.row]:
                del self._at_once[holder.row]

    def _alert(self, holders: Sequence[Holder], more: Used, now: float) -> None:
        """Says in the log, once for each limit, that the day will be used up: when four fifths of it are."""
        for holder in holders:
            limits = self.limits(holder.kind, holder.name)
            used, _ = self._sums(holder, day_of(now))
            for what in Used.__struct_fields__:
                most = getattr(limits, what)
                spent = getattr(used, what)
                if most is None:
                    continue
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


def _count(
    connection: sqlite3.Connection, day: str, tenant: str, key_id: str, more: Used
) -> None:
    connection.execute(
        "INSERT INTO used (day, tenant, key_id, requests, tokens, cost_usd) VALUES (?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET requests = requests + excluded.requests, tokens = tokens + excluded.tokens, "
        "cost_usd = cost_usd + excluded.cost_usd",
        (day, tenant, key_id, more.requests, more.tokens, more.cost_usd),
    )
