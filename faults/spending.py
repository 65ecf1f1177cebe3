"""Whether a run kept to its budget: worked out from its trace, apart from the coordinator's own sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.faults.running import Run
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.values import Rate, Usage

_SLACK_USD = 1e-9
_OUTCOMES = (e.ReasoningCompleted, e.ReasoningFailed, e.SummaryCompleted, e.SummaryFailed)


def within_budget(run: Run) -> Iterator[str]:
    """What all calls used is within the limits, and once one was reached no round of tools opens any more."""
    settings, events = run.scenario.settings, [said.event for said in run.trace]
    used = list(_used(events))
    tokens = sum(usage.all_input_tokens + usage.output_tokens for usage, _ in used)
    if settings.max_total_tokens is not None and tokens > settings.max_total_tokens:
        yield f"{tokens:,} tokens are spent, {settings.max_total_tokens:,} are allowed"
    usd = sum(_cost(usage, rate) for usage, rate in used)
    if settings.max_cost_usd is not None and usd > settings.max_cost_usd + _SLACK_USD:
        yield f"{usd:.4f} USD are spent, {settings.max_cost_usd:g} are allowed"
    tripped = [at for at, event in enumerate(events) if _is_trip(event)]
    if tripped and any(isinstance(event, e.RoundOpened) and not event.final for event in events[tripped[0] :]):
        yield "a round of tools was opened after the budget was used up"


def _used(events: Sequence[Event]) -> Iterator[tuple[Usage, Rate | None]]:
    """What each call used, and what its model's tokens cost; a call that is told of twice counts once."""
    rates = {rate.model: rate for event in events if isinstance(event, e.QueryReceived) for rate in event.rates}
    asked: dict[str, Rate | None] = {}
    told: set[str] = set()
    for event in events:
        if isinstance(event, e.ReasoningRequested):
            asked[event.call_id] = rates.get("fallback" if event.reasoner == "fallback" else event.model)
        if isinstance(event, e.SummaryRequested):
            asked[event.call_id] = rates.get(event.model)
        if not isinstance(event, _OUTCOMES) or event.call_id in told:
            continue
        told.add(event.call_id)
        yield event.usage, asked.get(event.call_id)
        if isinstance(event, e.ReasoningCompleted | e.SummaryCompleted):
            yield event.wasted, asked.get(event.call_id)


def _cost(usage: Usage, rate: Rate | None) -> float:
    if usage.cost_usd is not None:
        return usage.cost_usd
    return rate.cost(usage.all_input_tokens, usage.output_tokens) if rate else 0.0


def _is_trip(event: Event) -> bool:
    return isinstance(event, e.BreakerTripped) and event.limit in ("tokens", "cost")
