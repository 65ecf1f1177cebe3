"""The allowance of one query, and the most that it may need."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.vocabulary.settings import QuerySettings


class Allowance(NamedTuple):
    """The most that one query may use; None: only its settings limit it."""

    tokens: int | None = None
    cost_usd: float | None = None


UNBOUND = Allowance()


class Need(NamedTuple):
    """The most that a query may need.

    Attributes:
        least: The cost of a single call: if less is left, the query cannot begin.
        problem: The reason why its cost cannot be limited; None if it can.
    """

    tokens: int = 0
    cost_usd: float = 0.0
    least: Allowance = Allowance(0, 0.0)
    problem: str | None = None


def within(settings: QuerySettings, allowance: Allowance) -> QuerySettings:
    """Returns the settings with the limits of an allowance."""
    if allowance.tokens is not None:
        settings = replace(settings, max_total_tokens=allowance.tokens)
    if allowance.cost_usd is not None:
        settings = replace(settings, max_cost_usd=allowance.cost_usd)
    return settings
