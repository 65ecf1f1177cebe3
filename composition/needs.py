"""Estimates what a query needs, and keeps questions within their allowance."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.composition.allowance import UNBOUND, Allowance, Need, within
from antiphon.composition.intake import BYTES_A_TOKEN, rates_of, unpriced
from antiphon.composition.question import Question
from antiphon.composition.resources import Resources
from antiphon.engine import fixed_size
from antiphon.vocabulary.settings import QuerySettings

MARGIN = 1.5
"""The factor by which a query may need more than its calls alone: for retries, and for estimates that are too low."""
_LEAST_BRIEFING = 200
"""Tokens of the smallest briefing that a setting allows."""


def need_of(
    settings: QuerySettings, resources: Resources, calls: int | None = None
) -> Need:
    """Returns the most that a query may need: its calls with full briefings and replies, or less by its own limits.

    Args:
        calls: The most calls that it makes; None: those of a whole query.
    """
    if calls is None:
        calls = settings.max_rounds + 1
    if calls == 0:
        return Need()
    rates = rates_of(settings, resources)
    fixed = fixed_size(settings.max_rounds, resources.tool_definitions) // BYTES_A_TOKEN
    shown = settings.briefing_tokens + fixed
    # Every call is reckoned like the final one, which thinks most.
    written = settings.max_tokens
    written += max([rate.final_thinking for rate in rates], default=0)
    tokens = round(calls * (shown + written) * MARGIN)
    dearest = max([rate.cost(shown, written) for rate in rates], default=0.0)
    cost_usd = calls * dearest * MARGIN
    if settings.max_total_tokens is not None:
        tokens = min(tokens, settings.max_total_tokens)
    if settings.max_cost_usd is not None:
        cost_usd = min(cost_usd, settings.max_cost_usd)
    # As the query itself reckons (coordinator/budget.py): it makes no call that its budget might not cover.
    smallest = round((fixed + _LEAST_BRIEFING) * MARGIN)
    # Without the offline reasoner: it costs nothing, but a query should not begin only to be answered by it.
    costs = [rate.cost(smallest, written) for rate in rates if rate.output]
    least = Allowance(
        min(tokens, smallest + written),
        min(cost_usd, min(costs, default=0.0)),
    )
    problem = unpriced(replace(settings, max_cost_usd=0.0), rates)
    return Need(tokens, cost_usd, least, problem)


def bounded(
    question: Question, settings: QuerySettings, allowance: Allowance
) -> Question:
    """Returns the question with settings that keep it within its allowance."""
    if allowance == UNBOUND:
        return question
    return Question(
        query=question.query,
        session_id=question.session_id,
        settings=within(settings, allowance),
    )
