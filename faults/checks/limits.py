"""Checks of the limits of a query: rounds, replies, calls, attempts, and the budget of tokens and money.

What was spent is summed up from the trace, apart from the coordinator's own sums.
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
"""The beginning of the ids of searches that no model requested."""
MOST_ATTEMPTS = 6
MOST_STARTS = 8
"""A retry policy may try this often; one without a limit tries until the deadline."""
_SLACK_USD = 1e-9
"""The error that sums of prices may have, in dollars."""


def replies_within_limits(run: Run) -> Iterator[str]:
    """There is at most one reply more than there may be rounds."""
    most = run.scenario.settings.max_rounds + 1
    replies = set(run.subjects(e.ReasoningCompleted))
    if len(replies) > most:
        yield f"{len(replies)} replies, {most} are allowed"


def summaries_within_limits(run: Run) -> Iterator[str]:
    """There are at most as many summaries as rounds."""
    most = run.scenario.settings.max_rounds
    summaries = set(run.subjects(e.SummaryRequested))
    if len(summaries) > most:
        yield f"{len(summaries)} summaries, {most} are allowed"


def tool_rounds_within_limits(run: Run) -> Iterator[str]:
    """Models ask for tools in at most so many rounds."""
    most = run.scenario.settings.max_rounds
    # A search of the service's own belongs to no round of a model's.
    rounds = {
        event.round
        for event in run.events(e.ToolRequested)
        if not event.call.id.startswith(OWN_SEARCH)
    }
    if len(rounds) > most:
        yield f"tools in {len(rounds)} rounds, {most} are allowed"


def one_own_search(run: Run) -> Iterator[str]:
    """The service searches by itself at most once."""
    own = {
        call_id
        for call_id in run.subjects(e.ToolRequested)
        if call_id.startswith(OWN_SEARCH)
    }
    if len(own) > 1:
        yield "more than one search of its own"


def tool_calls_within_limits(run: Run) -> Iterator[str]:
    """No round has more tool calls than it may have."""
    most = run.scenario.settings.max_tool_calls
    for event in run.events(e.ToolCallsConfirmed):
        if len(set(event.tool_call_ids)) > most:
            yield f"more than {most} tool calls in a round"
            return


def attempts_within_limits(run: Run) -> Iterator[str]:
    """No call of a model is tried without limit."""
    attempts: dict[str, set[object]] = {}
    for event in run.events(e.ReasoningStarted):
        # A set, since an attempt whose event a fault published twice is one attempt.
        attempts.setdefault(event.call_id, set()).add(
            (event.reasoner, event.attempt, event.part)
        )
    most = max(map(len, attempts.values()), default=0)
    if most > MOST_ATTEMPTS:
        yield f"{most} attempts at one call"


def tool_starts_within_limits(run: Run) -> Iterator[str]:
    """No tool call is started without limit."""
    starts = Counter(run.subjects(e.ToolStarted))
    published_twice = 0
    for lost in run.injected.lost:
        if isinstance(lost, e.ToolStarted):
            published_twice += 1
    most = max(starts.values(), default=0)
    if most > MOST_STARTS + published_twice:
        yield f"one tool call was started {most} times"


def within_budget(run: Run) -> Iterator[str]:
    """All calls together use and cost no more than they may, and nothing more is begun once they do."""
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
        # A provider that names the price knows it best; a model without a known rate costs nothing.
        if usage.cost_usd is not None:
            usd += usage.cost_usd
        elif rate is not None:
            usd += rate.cost(usage.all_input_tokens, usage.output_tokens)
    if usd > most + _SLACK_USD:
        yield f"{usd:.4f} USD are spent, {most:g} are allowed"


def _no_round_after_the_budget(run: Run) -> Iterator[str]:
    """Once a budget was reached no round of tools opens any more."""
    used_up = False
    for recorded in run.trace:
        event = recorded.event
        if isinstance(event, e.BreakerTripped) and event.limit in ("tokens", "cost"):
            used_up = True
        elif used_up and isinstance(event, e.RoundOpened) and not event.final:
            yield "a round of tools was opened after the budget was used up"
            return


def _spent(run: Run) -> Iterator[tuple[Usage, Rate | None]]:
    """Yields what each call used, and what its model's tokens cost; a call with two outcomes counts once."""
    rates = _rates_of_calls(run)
    counted: set[str] = set()
    # A fault may have published an outcome twice: it was paid for once.
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
        # A failed call's usage holds its attempts already; a whole reply tells apart what was for nothing.
        if isinstance(event, e.ReasoningCompleted | e.SummaryCompleted):
            yield event.wasted, rate


def _rates_of_calls(run: Run) -> dict[str, Rate | None]:
    """Returns what the tokens of each call's model cost, as far as that is known."""
    known: dict[str, Rate] = {}
    for received in run.events(e.QueryReceived):
        for rate in received.rates:
            known[rate.model] = rate
    rates: dict[str, Rate | None] = {}
    for reasoning in run.events(e.ReasoningRequested):
        # The fallback's price stands under its own name, whatever model it was asked in the place of.
        model = "fallback" if reasoning.reasoner == "fallback" else reasoning.model
        rates[reasoning.call_id] = known.get(model)
    for summary in run.events(e.SummaryRequested):
        rates[summary.call_id] = known.get(summary.model)
    return rates


def _as_billed(unreported: Usage) -> Usage:
    """Returns what the scripted server bills of requests that were broken off.

    The ledger counts more than that: the most that any server could make of their bytes. A budget is kept by estimates
    of a request, which that would exceed though nothing more was spent than may be.
    """
    input_tokens = unreported.input_tokens * BYTES_A_TOKEN // CHARS_A_TOKEN
    return replace(unreported, input_tokens=input_tokens, cost_usd=None)
