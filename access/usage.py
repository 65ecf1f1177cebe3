"""The limits and the spending of keys and tenants, as values, and the refusals for callers who have spent it all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import QuotaError
from antiphon.vocabulary.values import Value

DAY_S = 86_400.0
SOON_S = 2.0
"""Seconds after which a query that runs now may have ended."""
_LEAST_SHARE = 1 / 24
"""A forecast assumes that at least this share of the day has passed: the first minutes would predict absurd sums."""
_WORDS = {"requests": "requests", "tokens": "tokens", "cost_usd": "US dollars"}


class Limits(Value, frozen=True, kw_only=True):
    """The most that a key or a tenant may use; None: no limit. All but `at_once` hold for one day, by UTC."""

    requests: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None
    at_once: int | None = None


class Used(Value, frozen=True, kw_only=True):
    """An amount that was spent, or that is set aside for queries under way."""

    requests: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


class Spent(Used, frozen=True, kw_only=True):
    """What one query has spent. If a server did not report all of it, the amount set aside counts instead."""

    is_known: bool = True


def settled(aside: Used, spent: Spent | None) -> Used:
    """Returns what a query that is over adds to its holders' use.

    Args:
        aside: What was set aside for it.
        spent: None: it did not begin, and its request, counted beforehand, is taken back.
    """
    if spent is None:
        return Used(requests=-1)
    if spent.is_known:
        return Used(tokens=spent.tokens, cost_usd=spent.cost_usd)
    # Not the sum: what is known was paid out of what was set aside.
    return Used(
        tokens=max(aside.tokens, spent.tokens),
        cost_usd=max(aside.cost_usd, spent.cost_usd),
    )


class Share(Value, frozen=True, kw_only=True):
    """What a key or a tenant has used of its limits today.

    Attributes:
        holder: `key` or `tenant`.
        set_aside: What its queries under way may still use.
        forecast: What it will have used by the end of the day, at the rate so far.
    """

    holder: str
    name: str
    limits: Limits
    used: Used
    set_aside: Used
    at_once: int
    forecast: Used


class UsageReport(Value, frozen=True, kw_only=True):
    """The day's shares of a caller. `resets_at` is in seconds since the epoch."""

    day: str
    resets_at: float
    shares: tuple[Share, ...] = ()


class Holder(NamedTuple):
    """A key or a tenant, with limits of its own."""

    kind: str
    name: str

    @property
    def row(self) -> str:
        return f"{self.kind}:{self.name}"

    @property
    def words(self) -> str:
        return f"the {self.kind} {self.name}"


class Balance(NamedTuple):
    """What a key or a tenant has used today.

    Attributes:
        aside: What its queries under way may still use.
        at_once: How many those are.
    """

    used: Used = Used()
    aside: Used = Used()
    at_once: int = 0


Balances = dict[Holder, Balance]
"""The balance of each holder whose limits apply to a caller's queries."""


def day_of(now: float) -> str:
    """Returns the day by UTC."""
    return datetime.fromtimestamp(now, UTC).date().isoformat()


def day_end(now: float) -> float:
    """Returns when the day ends, in seconds since the epoch."""
    today = datetime.fromtimestamp(now, UTC).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    return (today + timedelta(days=1)).timestamp()


def holders_of(caller: Principal) -> tuple[Holder, ...]:
    """Returns the holders whose limits apply to a caller's queries: the key and its tenant; none without a key."""
    if not caller.key_id:
        return ()
    return (
        Holder("key", caller.key_id),
        Holder("tenant", caller.tenant),
    )


def forecast(used: Used, now: float) -> Used:
    """Returns what will be used by the end of the day at the rate so far."""
    passed = max(_LEAST_SHARE, 1 - (day_end(now) - now) / DAY_S)
    return Used(
        requests=round(used.requests / passed),
        tokens=round(used.tokens / passed),
        cost_usd=used.cost_usd / passed,
    )


def used_up(
    holder: Holder,
    what: str,
    limits: Limits,
    used: Used,
    now: float,
    *,
    waits: bool = False,
) -> QuotaError:
    """Returns the refusal of a query for which too little of a limit is left.

    Args:
        waits: True if the holder's queries under way may leave enough of what is set aside for them.
    """
    most, spent = getattr(limits, what), getattr(used, what)
    ends = datetime.fromtimestamp(day_end(now), UTC)
    until_s = day_end(now) - now
    begins = f"{holder.words} may use {_shown(most)} {_WORDS[what]} a day"
    if not waits:
        # A query is refused before its limit is reached if the rest would not pay for a single call.
        rest = ", and the rest is too little for one call" if spent < most else ""
        return QuotaError(
            f"{_capital(begins)}, and has used {_shown(spent)}{rest}: the limit is reset at {ends:%Y-%m-%d %H:%M} UTC, "
            f"in {_span(until_s)}.",
            until_s,
        )
    return QuotaError(
        f"{_capital(begins)}, has used {_shown(spent)}, and its queries under way may take the rest: ask again in "
        f"{SOON_S:.0f} seconds.",
        SOON_S,
    )


def too_many_at_once(holder: Holder, most: int, running: int) -> QuotaError:
    """Returns the refusal of a query when the holder has as many under way as it may."""
    words = (
        f"{holder.words} may have {most} queries under way at once, and has {running}"
    )
    return QuotaError(f"{_capital(words)}: ask again in {SOON_S:.0f} seconds.", SOON_S)


def _shown(number: float) -> str:
    if isinstance(number, int):
        return f"{number:,}"
    return f"{number:,.4g}"


def _span(seconds: float) -> str:
    hours, rest = divmod(round(seconds), 3600)
    if hours:
        return f"{hours} h {rest // 60} min"
    return f"{rest // 60} min"


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]
