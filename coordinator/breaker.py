"""The circuit breaker: asked before every single tool call and before every round."""

from __future__ import annotations

import math

from antiphon.coordinator.purse import LEAST_BRIEFING, MODEST_SHARE, Spend
from antiphon.coordinator.state import QueryState
from antiphon.vocabulary.events import BreakerTripped
from antiphon.vocabulary.tool_calls import CallIdentity, call_identity
from antiphon.vocabulary.values import ToolCall

FAILED_ROUNDS_ALLOWED = 2
SPENT = "the budget does not pay for another call of the model"
FALLBACK = "fallback"
"""The name of the rate of the reasoner that stands in."""


def call_key(call: ToolCall) -> CallIdentity:
    """Returns the identity of the call; the id that the model gave it is no part of it."""
    return call_identity(call.name, call.arguments)


def refuse_call(state: QueryState, call: ToolCall) -> BreakerTripped | None:
    """Why this call may not run now, or None where it may."""
    if state.final:
        detail = f"{state.settings.max_rounds} round(s) of tools are used up; {call.name} was not run"
        return BreakerTripped(limit="rounds", detail=detail, tool_call_id=call.id)
    if state.finish != "no":
        detail = f"no time is left for {call.name}"
        return BreakerTripped(limit="deadline", detail=detail, tool_call_id=call.id)
    if call_key(call) in state.asked or call.id in state.tool_call_ids:
        detail = f"{call.name} was already called with the same arguments; its result is in the sources"
        return BreakerTripped(limit="repeated_call", detail=detail, tool_call_id=call.id)
    if len(state.tool_call_ids) >= state.settings.max_tool_calls:
        detail = f"a round may hold {state.settings.max_tool_calls} tool calls; {call.name} was not run"
        return BreakerTripped(limit="tool_calls", detail=detail, tool_call_id=call.id)
    return None


def refuse_round(state: QueryState, *, new_facts: int) -> BreakerTripped | None:
    """Why no further round of tools may open, where one would otherwise be left; None where it may."""
    if state.round >= state.settings.max_rounds:
        return None
    if state.some_tool_failed and state.settings.on_tool_failure == "stop":
        return BreakerTripped(limit="tool_failed", detail="a tool failed, and this query stops at the first failure")
    if state.failed_rounds >= FAILED_ROUNDS_ALLOWED:
        return BreakerTripped(limit="all_tools_failed", detail="every tool call of the last two rounds failed")
    if state.round > 1 and new_facts == 0:
        return BreakerTripped(limit="no_progress", detail=f"round {state.round} brought nothing new")
    return refuse_spending(state, final=False)


def refuse_spending(state: QueryState, *, final: bool) -> BreakerTripped | None:
    """Why the budget refuses to open a round: it pays for less than its call and, after tools, a final one."""
    if not state.purse.is_limited:
        return None
    if final:
        return _trip(state, final_call(state, LEAST_BRIEFING), "the final call", final=True)
    least = _modest(state) if state.found else LEAST_BRIEFING
    needed = state.purse.call(model_of(state, final=False), least) + kept_back(state)
    return _trip(state, needed, "another round and the final call", final=False)


def refuse_briefing(state: QueryState, shown: int) -> BreakerTripped | None:
    """Why the budget refuses a call, now that it is known what it would be shown."""
    if not state.purse.is_limited:
        return None
    needed = state.purse.call(model_of(state, final=state.final), 0, shown=shown)
    if state.final:
        return _trip(state, needed, "the final call", final=True)
    return _trip(state, needed + kept_back(state), "this round and the final call", final=False)


def kept_back(state: QueryState) -> Spend:
    """What a round of tools must leave: enough for a final call with a modest briefing."""
    return final_call(state, _modest(state))


def final_call(state: QueryState, briefing: int) -> Spend:
    """The most that the final call takes, shown so many tokens of facts and notes."""
    return state.purse.call(model_of(state, final=True), briefing)


def model_of(state: QueryState, *, final: bool) -> str:
    """The name of the rate of the open round's model."""
    return FALLBACK if state.reasoner == "fallback" else wanted_model(state, final=final)


def wanted_model(state: QueryState, *, final: bool) -> str:
    """The model that the provider is asked for."""
    return state.model or (state.settings.final_model if final else None) or state.settings.model


def _modest(state: QueryState) -> int:
    return max(LEAST_BRIEFING, int(state.settings.briefing_tokens * MODEST_SHARE))


def _trip(state: QueryState, needed: Spend, what: str, *, final: bool) -> BreakerTripped | None:
    settings, purse = state.settings, state.purse
    if needed.tokens > purse.left.tokens:
        spent = f"{purse.spent.tokens:,.0f} of {settings.max_total_tokens:,} tokens are spent"
        return BreakerTripped(limit="tokens", detail=f"{spent}; {what} may take {needed.tokens:,.0f}")
    if settings.max_cost_usd is None or needed.usd <= purse.left.usd:
        return None
    if math.isinf(needed.usd):
        return BreakerTripped(limit="cost", detail=f"what {model_of(state, final=final)} costs is not known")
    spent = f"{purse.spent.usd:.4f} of {settings.max_cost_usd:g} USD are spent"
    return BreakerTripped(limit="cost", detail=f"{spent}; {what} may cost {needed.usd:.4f}")
