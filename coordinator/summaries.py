"""The rules of summarising calls: whether one may be made, by the same breaker as all calls; pure.

They are counted apart from the reasoning calls, and have shares of their own: at most one for each round of tools, a
quarter of the time that those have left and never any of the final call's, few tokens. Where one may not be made, or
fails, the briefing does without, and nothing else changes.
"""

from __future__ import annotations

from msgspec.structs import replace

from coordinator import ledger
from coordinator.state import QueryState
from coordinator.steps import Decision
from vocabulary.events import (
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


def after_summary_wanted(state: QueryState, said: Recorded[SummaryWanted]) -> Decision:
    """Asks for the summary, or says why there will be none."""
    wanted = said.event
    if state.phase != "briefing" or wanted.call_id != state.call_id or state.summarising:
        return state, ()
    timeout_s = ledger.summary_timeout_s(state.settings, said.at - state.received_at)
    refusal = refuse_summary(state, timeout_s)
    if refusal is not None:
        return do_without(state, *refusal)
    asked = SummaryRequested(
        call_id=f"{state.call_id}-summary",
        for_call=state.call_id,
        round=state.round,
        reasoner=state.reasoner,
        model=state.settings.compression_model,
        max_tokens=SUMMARY_TOKENS,
        timeout_s=timeout_s,
        messages=wanted.messages,
    )
    return replace(state, summarising=asked.call_id, summaries=state.summaries + 1), (asked,)


def after_summary(state: QueryState, said: Recorded[SummaryCompleted] | Recorded[SummaryFailed]) -> Decision:
    """The call is over, however it ended; the synthesizer, which waited for it, goes on."""
    return (replace(state, summarising="") if said.event.call_id == state.summarising else state), ()


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
