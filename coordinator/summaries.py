"""The rules of summarising calls, which share the budget and the deadline of all calls; pure.

They are counted apart from the reasoning calls and have limits of their own: at most one per round of tools, a quarter
of the time left for tools, none of the final call's time, and few tokens. They may spend only the part of the budget
that no later call needs. If a summary is refused or fails, the briefing does without it.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.coordinator import deadline
from antiphon.coordinator.breaker import kept_back, model_of
from antiphon.coordinator.budget import SUMMARY_TOKENS, Spend
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.coordinator.steps import briefing_tokens
from antiphon.vocabulary.events import (
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    SummaryLimit,
    SummaryRequested,
    SummarySkipped,
    SummaryWanted,
)


class Refusal(NamedTuple):
    """The reason why there is no summary: the limit that was reached, in words too."""

    limit: SummaryLimit
    detail: str


def after_summary_wanted(
    state: QueryState, recorded: Recorded[SummaryWanted]
) -> Decision:
    """Requests the summary, or emits why there will be none."""
    wanted = recorded.event
    if (
        state.phase != "briefing"
        or wanted.call_id != state.call_id
        or state.summarising
    ):
        return state, ()
    timeout_s = deadline.summary_timeout_s(
        state.settings, recorded.at - state.received_at
    )
    set_aside = state.budget.summary_of(wanted.tokens)
    needed = set_aside + _to_follow(state)
    refusal = _refuse_summary(state, timeout_s) or _refuse_unpaid(state, needed)
    if refusal is not None:
        return skip_summary(state, refusal)
    # Attempts may waste only budget that neither this call nor the later ones need.
    spare = state.budget.spare(needed)
    requested = SummaryRequested(
        call_id=f"{state.call_id}-summary",
        for_call=state.call_id,
        round=state.round,
        reasoner=state.reasoner,
        model=state.settings.compression_model,
        max_tokens=SUMMARY_TOKENS,
        timeout_s=timeout_s,
        messages=wanted.messages,
        spare_tokens=spare.tokens,
        spare_usd=spare.usd,
    )
    state = replace(
        state,
        summarising=requested.call_id,
        summaries=state.summaries + 1,
        set_aside=set_aside,
    )
    return state, (requested,)


def after_summary_completed(
    state: QueryState, recorded: Recorded[SummaryCompleted]
) -> Decision:
    """Charges the call's usage, or what was set aside for it if the server reported none."""
    event, model = recorded.event, state.settings.compression_model
    budget = state.budget.after(event.wasted, model).after_reply(
        event.usage + event.unreported, model, most=state.set_aside
    )
    return _without_call(replace(state, budget=budget), event.call_id), ()


def after_summary_failed(
    state: QueryState, recorded: Recorded[SummaryFailed]
) -> Decision:
    """Charges what the failed call used."""
    event = recorded.event
    counted = event.usage + event.unreported
    budget = state.budget.after(counted, state.settings.compression_model)
    return _without_call(replace(state, budget=budget), event.call_id), ()


def skip_summary(state: QueryState, refusal: Refusal) -> Decision:
    """Lets the open round's briefing go on without a summary."""
    skipped = SummarySkipped(
        for_call=state.call_id, limit=refusal.limit, detail=refusal.detail
    )
    return replace(state, summarising=""), (skipped,)


def _without_call(state: QueryState, call_id: str) -> QueryState:
    """Notes that the call is over; the synthesizer sees the same event and goes on without a request."""
    if call_id != state.summarising:
        return state
    return replace(state, summarising="")


def _refuse_summary(state: QueryState, timeout_s: float) -> Refusal | None:
    if state.finish != "no" or timeout_s < deadline.SUMMARY_LEAST_S:
        return Refusal("deadline", "too little time was left for it")
    if state.reasoner == "fallback":
        return Refusal("provider_open", "the model is away")
    if state.summaries >= state.settings.max_rounds:
        return Refusal("summaries", "the query had its share of summaries")
    return None


def _refuse_unpaid(state: QueryState, needed: Spend) -> Refusal | None:
    """Refuses a summary unless the budget pays for it and for all later calls at their size without it."""
    left = state.budget.left
    if needed.tokens > left.tokens:
        return Refusal(
            "tokens", "the budget of tokens does not pay for it and all that follows"
        )
    if state.settings.max_cost_usd is not None and needed.usd > left.usd:
        return Refusal("cost", "the budget does not pay for it and all that follows")
    return None


def _to_follow(state: QueryState) -> Spend:
    """Returns the most that later calls take: the open round's with a full briefing and, after tools, a final one."""
    briefing = briefing_tokens(state)
    if briefing is None:
        briefing = state.settings.briefing_tokens
    call = state.budget.call_with_briefing(
        model_of(state, final=state.final), briefing, final=state.final
    )
    if state.final:
        return call
    return call + kept_back(state)
