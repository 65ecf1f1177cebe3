"""What one query may use, and the most that it may want."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.vocabulary.settings import QuerySettings


class Allowance(NamedTuple):
    """What one query may use; None: no more is said than its settings do."""

    tokens: int | None = None
    cost_usd: float | None = None


UNBOUND = Allowance()


class Need(NamedTuple):
    """The most that a query may want.

    Attributes:
        least: What a single call takes: if less is left, there is nothing to begin.
        problem: Why its cost cannot be kept within a limit; None if it can.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    least: Allowance = Allowance(0, 0.0)
    problem: str | None = None


def within(settings: QuerySettings, allowance: Allowance) -> QuerySettings:
    """Returns the settings, with limits that are no larger than what is allowed."""
    if allowance.tokens is not None:
        settings = replace(settings, max_total_tokens=allowance.tokens)
    if allowance.cost_usd is not None:
        settings = replace(settings, max_cost_usd=allowance.cost_usd)
    return settings
