"""The usage of a tenant's keys and the reservations for their queries, as a value that all nodes change by rules."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from antiphon.access import Balance, Holder, Spent, Used, settled

KEPT_DAYS = 3
"""Days that an account remembers: a query counts towards the day of its admission, and may end on the next."""


class Sum(msgspec.Struct, frozen=True):
    """As `Used`; ignores unknown fields, which a newer program may have written."""

    requests: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class SetAside(msgspec.Struct, frozen=True):
    """The reservation for one query under way.

    Attributes:
        at: The time of its admission, in seconds since the epoch.
    """

    day: str
    key_id: str
    tokens: int
    cost_usd: float
    at: float


class Account(msgspec.Struct, frozen=True):
    """A tenant's account.

    Attributes:
        used: By day and key.
        under_way: By query.
    """

    used: dict[str, dict[str, Sum]] = {}
    under_way: dict[str, SetAside] = {}

    def balance(self, holder: Holder, day: str) -> Balance:
        """Returns the usage of a key or the tenant on a day, and the reservations for its queries under way."""
        used, aside = Sum(), Sum()
        at_once = 0
        for key_id, each in self.used.get(day, {}).items():
            if _is_of(holder, key_id):
                used = _plus(used, each)
        for query in self.under_way.values():
            if not _is_of(holder, query.key_id):
                continue
            at_once += 1
            if query.day == day:
                aside = _plus(aside, Sum(0, query.tokens, query.cost_usd))
        return Balance(_shown(used), _shown(aside), at_once)

    def with_query(self, query_id: str, query: SetAside) -> Account:
        """Returns the account with one more query under way, and its request counted."""
        under_way = self.under_way | {query_id: query}
        return Account(self._counted(query, Sum(requests=1)), under_way)

    def settled(self, query_id: str, spent: Spent | None) -> Account:
        """Returns the account with a query's usage in place of its reservation; None: the query did not begin."""
        query = self.under_way.get(query_id)
        # Another node has settled it already.
        if query is None:
            return self
        aside = Used(tokens=query.tokens, cost_usd=query.cost_usd)
        more = settled(aside, spent)
        under_way = dict(self.under_way)
        del under_way[query_id]
        return Account(self._counted(query, _kept(more)), under_way)

    def _counted(self, query: SetAside, more: Sum) -> dict[str, dict[str, Sum]]:
        of_day = dict(self.used.get(query.day, {}))
        of_day[query.key_id] = _plus(of_day.get(query.key_id, Sum()), more)
        return _newest(self.used | {query.day: of_day})


def _is_of(holder: Holder, key_id: str) -> bool:
    return holder.kind == "tenant" or holder.name == key_id


def _plus(one: Sum, other: Sum) -> Sum:
    return Sum(
        one.requests + other.requests,
        one.tokens + other.tokens,
        one.cost_usd + other.cost_usd,
    )


def _kept(used: Used) -> Sum:
    return Sum(used.requests, used.tokens, used.cost_usd)


def _shown(found: Sum) -> Used:
    return Used(requests=found.requests, tokens=found.tokens, cost_usd=found.cost_usd)


def _newest(days: Mapping[str, dict[str, Sum]]) -> dict[str, dict[str, Sum]]:
    # ISO dates sort by time.
    return dict(sorted(days.items())[-KEPT_DAYS:])
