"""Checks the limits of a query: rounds, replies, calls, attempts, and the budget of tokens and money.

Sums up the spending from the trace, independently of the coordinator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec.structs import replace

from antiphon.engine.account import BYTES_A_TOKEN
from antiphon.faults.results import Run
from antiphon.faults.runs.scripted_model import CHARS_A_TOKEN
from antiphon.vocabulary import events as e
from antiphon.vocabulary.values import Rate, Usage

OWN_SEARCH = "own-search-"
"""The prefix of the ids of searches that no model requested."""
MOST_ATTEMPTS = 6
MOST_STARTS = 8
"""More starts than any retry policy with a limit makes; one without a limit tries until the deadline."""
_SLACK_USD = 1e-9
"""The allowed rounding error of sums of prices, in dollars."""


def replies_within_limits(run: Run) -> Iterator[str]:
    """There is at most one reply more than the limit on rounds."""
    most = run.scenario.settings.max_rounds + 1
    replies = set(run.subjects(e.ReasoningCompleted))
    if len(replies) > most:
        yield f"{len(replies)} replies, {most} are allowed"


def summaries_within_limits(run: Run) -> Iterator[str]:
    """There are at most as many summaries as the limit on rounds."""
    most = run.scenario.settings.max_rounds
    summaries = set(run.subjects(e.SummaryRequested))
    if len(summaries) > most:
        yield f"{len(summaries)} summaries, {most} are allowed"


def tool_rounds_within_limits(run: Run) -> Iterator[str]:
    """Models call tools in no more rounds than the limit."""
    most = run.scenario.settings.max_rounds
    # A search by the service itself does not belong to a model's round.
    rounds = {
        event.round
        for event in run.events(e.ToolRequested)
        if not event.call.id.startswith(OWN_SEARCH)
    }
    if len(rounds) > most:
        yield f"tools in {len(rounds)} rounds, {most} are allowed"


def one_own_search(run: Run) -> Iterator[str]:
    """The service makes at most one search of its own."""
    own = {
        call_id
        for call_id in run.subjects(e.ToolRequested)
        if call_id.startswith(OWN_SEARCH)
    }
    if len(own) > 1:
        yield "more than one search of its own"


def tool_calls_within_limits(run: Run) -> Iterator[str]:
    """No round has more tool calls than the limit."""
    most = run.scenario.settings.max_tool_calls
    for event in run.events(e.ToolCallsConfirmed):
        if len(set(event.tool_call_ids)) > most:
            yield f"more than {most} tool calls in a round"
            return


def attempts_within_limits(run: Run) -> Iterator[str]:
    """Attempts at a model call are limited."""
    attempts: dict[str, set[object]] = {}
    for event in run.events(e.ReasoningStarted):
        # A set, because a fault may have published an attempt's event twice.
        attempts.setdefault(event.call_id, set()).add(
            (event.reasoner, event.attempt, event.part)
        )
    most = max(map(len, attempts.values()), default=0)
    if most > MOST_ATTEMPTS:
        yield f"{most} attempts at one call"


def tool_starts_within_limits(run: Run) -> Iterator[str]:
    """Starts of a tool call are limited."""
    starts = Counter(run.subjects(e.ToolStarted))
    published_twice = 0
    for lost in run.injected.lost:
        if isinstance(lost, e.ToolStarted):
            published_twice += 1
    most = max(starts.values(), default=0)
    if most > MOST_STARTS + published_twice:
        yield f"one tool call was started {most} times"


def within_budget(run: Run) -> Iterator[str]:
    """All calls together stay within the budget, and no round of tools opens after it is used up."""
    yield from _tokens_within_budget(run)
    yield from _cost_within_budget(run)
    yield from _no_round_after_the_budget(run)


def _tokens_within_budget(run: Run) -> Iterator[str]:
    most = run.scenario.settings.max_total_tokens
    if most is None:
        return
    tokens = 0
    for usage, _ in _spent(run):
        tokens += usage.all_input_tokens + usage.output_tokens
    if tokens > most:
        yield f"{tokens:,} tokens are spent, {most:,} are allowed"


def _cost_within_budget(run: Run) -> Iterator[str]:
    most = run.scenario.settings.max_cost_usd
    if most is None:
        return
    usd = 0.0
    for usage, rate in _spent(run):
        # The provider's own price comes first; a model without a known rate costs nothing.
        if usage.cost_usd is not None:
            usd += usage.cost_usd
        elif rate is not None:
            usd += rate.cost(usage.all_input_tokens, usage.output_tokens)
    if usd > most + _SLACK_USD:
        yield f"{usd:.4f} USD are spent, {most:g} are allowed"


def _no_round_after_the_budget(run: Run) -> Iterator[str]:
    """No round of tools opens once a budget is used up."""
    used_up = False
    for recorded in run.trace:
        event = recorded.event
        if isinstance(event, e.BreakerTripped) and event.limit in ("tokens", "cost"):
            used_up = True
        elif used_up and isinstance(event, e.RoundOpened) and not event.final:
            yield "a round of tools was opened after the budget was used up"
            return


def _spent(run: Run) -> Iterator[tuple[Usage, Rate | None]]:
    """Yields each call's usage and its model's rate; a call with two outcomes counts once."""
    rates = _rates_of_calls(run)
    counted: set[str] = set()
    # A fault may have published an outcome twice, but the call was paid for once.
    for recorded in run.trace:
        event = recorded.event
        if not isinstance(
            event,
            e.ReasoningCompleted
            | e.ReasoningFailed
            | e.SummaryCompleted
            | e.SummaryFailed,
        ):
            continue
        if event.call_id in counted:
            continue
        counted.add(event.call_id)
        rate = rates.get(event.call_id)
        yield event.usage, rate
        yield _as_billed(event.unreported), rate
        # A failed call's usage includes all its attempts; a whole reply reports the wasted ones separately.
        if isinstance(event, e.ReasoningCompleted | e.SummaryCompleted):
            yield event.wasted, rate


def _rates_of_calls(run: Run) -> dict[str, Rate | None]:
    """Returns the rate of each call's model; None if it is not known."""
    known: dict[str, Rate] = {}
    for received in run.events(e.QueryReceived):
        for rate in received.rates:
            known[rate.model] = rate
    rates: dict[str, Rate | None] = {}
    for reasoning in run.events(e.ReasoningRequested):
        # The fallback's rate has its own name, not that of the model that it replaces.
        model = "fallback" if reasoning.reasoner == "fallback" else reasoning.model
        rates[reasoning.call_id] = known.get(model)
    for summary in run.events(e.SummaryRequested):
        rates[summary.call_id] = known.get(summary.model)
    return rates


def _as_billed(unreported: Usage) -> Usage:
    """Returns the usage that the scripted server bills for requests that were broken off.

    The ledger counts more: the most that any server could charge for their bytes. Budgets are kept by estimates, which
    that maximum would exceed even though the real spending is within the limit.
    """
    input_tokens = unreported.input_tokens * BYTES_A_TOKEN // CHARS_A_TOKEN
    return replace(unreported, input_tokens=input_tokens, cost_usd=None)
