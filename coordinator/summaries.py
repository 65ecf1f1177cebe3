"""The rules of summarising calls: whether one may be made, by the same breaker as all calls; pure.

They are counted apart from the reasoning calls, and have shares of their own: at most one for each round of tools, a
quarter of the time that those have left and never any of the final call's, few tokens; and what they take of the
query's budget is left over from all that follows. Where one may not be made, or
fails, the briefing does without, and nothing else changes.
"""

from __future__ import annotations

import math

from msgspec.structs import replace

from antiphon.coordinator import ledger
from antiphon.coordinator.breaker import kept_back, model_of
from antiphon.coordinator.purse import MARGIN, Spend, paid
from antiphon.coordinator.state import QueryState
from antiphon.coordinator.steps import Decision, briefing_tokens
from antiphon.vocabulary.events import (
    Recorded,
    SummaryCompleted,
    SummaryFailed,
    SummaryLimit,
    SummaryRequested,
    SummarySkipped,
    SummaryWanted,
)

SUMMARY_TOKENS = 400
"""Most output tokens of a summarising call."""
PROMPT_TOKENS = 300
"""About what its request holds beside its messages."""


def after_summary_wanted(state: QueryState, said: Recorded[SummaryWanted]) -> Decision:
    """Asks for the summary, or says why there will be none."""
    wanted = said.event
    if state.phase != "briefing" or wanted.call_id != state.call_id or state.summarising:
        return state, ()
    timeout_s = ledger.summary_timeout_s(state.settings, said.at - state.received_at)
    set_aside = most_spent(state, wanted.tokens)
    refusal = refuse_summary(state, timeout_s) or refuse_spending(state, set_aside)
    if refusal is not None:
        return do_without(state, *refusal)
    spare_tokens, spare_usd = spare(state, set_aside)
    asked = SummaryRequested(
        call_id=f"{state.call_id}-summary",
        for_call=state.call_id,
        round=state.round,
        reasoner=state.reasoner,
        model=state.settings.compression_model,
        max_tokens=SUMMARY_TOKENS,
        timeout_s=timeout_s,
        messages=wanted.messages,
        spare_tokens=spare_tokens,
        spare_usd=spare_usd,
    )
    state = replace(state, summarising=asked.call_id, summaries=state.summaries + 1, set_aside=set_aside)
    return state, (asked,)


def after_summary_completed(state: QueryState, said: Recorded[SummaryCompleted]) -> Decision:
    """The call is paid for; one that tells no usage counts as what was set aside for it."""
    event, model = said.event, state.settings.compression_model
    purse = paid(state.purse, event.wasted, model)
    if event.usage.all_input_tokens or event.usage.output_tokens:
        purse = paid(purse, event.usage, model)
    else:
        usd = state.set_aside.usd if math.isfinite(state.set_aside.usd) else 0.0
        purse = replace(purse, spent=purse.spent + replace(state.set_aside, usd=usd))
    return _over(replace(state, purse=purse), event.call_id)


def after_summary_failed(state: QueryState, said: Recorded[SummaryFailed]) -> Decision:
    """What it used is paid for all the same."""
    purse = paid(state.purse, said.event.usage, state.settings.compression_model)
    return _over(replace(state, purse=purse), said.event.call_id)


def _over(state: QueryState, call_id: str) -> Decision:
    """The call is over, however it ended; the synthesizer, which waited for it, goes on."""
    return (replace(state, summarising="") if call_id == state.summarising else state), ()


def do_without(state: QueryState, limit: SummaryLimit, detail: str) -> Decision:
    """No summary: the open round's briefing goes on without."""
    skipped = SummarySkipped(for_call=state.call_id, limit=limit, detail=detail)
    return replace(state, summarising=""), (skipped,)


def refuse_summary(state: QueryState, timeout_s: float) -> tuple[SummaryLimit, str] | None:
    """Why no summary may be asked for, or None where one may."""
    if state.finish != "no" or timeout_s < ledger.SUMMARY_LEAST_S:
        return "deadline", "too little time was left for it"
    if state.reasoner == "fallback":
        return "provider_open", "the model is away"
    if state.summaries >= state.settings.max_rounds:
        return "summaries", "the query had its share of summaries"
    return None


def refuse_spending(state: QueryState, summary: Spend) -> tuple[SummaryLimit, str] | None:
    """Why the budget refuses a summary: it pays for all that follows as if there were none, or the summary waits."""
    if not state.purse.is_limited:
        return None
    needed, left = summary + to_follow(state), state.purse.left
    if needed.tokens > left.tokens:
        return "tokens", "the budget of tokens does not pay for it and all that follows"
    if state.settings.max_cost_usd is not None and needed.usd > left.usd:
        return "cost", "the budget does not pay for it and all that follows"
    return None


def most_spent(state: QueryState, shown: int) -> Spend:
    """The most that a summarising call takes; infinite dollars where its model's price is not known."""
    input_tokens = math.ceil((PROMPT_TOKENS + shown * MARGIN) * state.purse.stretch)
    rate = state.purse.rate(state.settings.compression_model)
    usd = math.inf if rate is None else rate.cost(input_tokens, SUMMARY_TOKENS)
    return Spend(tokens=input_tokens + SUMMARY_TOKENS, usd=usd)


def to_follow(state: QueryState) -> Spend:
    """What must be left: the open round's call with the briefing it was opened for, and after tools a final one."""
    usual = state.settings.briefing_tokens
    briefing = usual if (room := briefing_tokens(state)) is None else room
    call = state.purse.call(model_of(state, final=state.final), briefing)
    return call if state.final else call + kept_back(state)


def spare(state: QueryState, summary: Spend) -> tuple[int | None, float | None]:
    """The tokens and dollars that attempts at the call may waste before there must be no other."""
    settings, purse, needed = state.settings, state.purse, summary + to_follow(state)
    if not purse.is_limited:
        return None, None
    tokens = None if settings.max_total_tokens is None else max(0, math.floor(purse.left.tokens - needed.tokens))
    return tokens, None if settings.max_cost_usd is None else max(0.0, purse.left.usd - needed.usd)
