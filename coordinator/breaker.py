"""The circuit breaker: refuses every tool call and every round that would exceed a limit; pure."""

from __future__ import annotations

import math

from antiphon.coordinator.budget import LEAST_BRIEFING, MODEST_SHARE, Spare, Spend
from antiphon.coordinator.query_state import QueryState
from antiphon.vocabulary.events import BreakerTripped
from antiphon.vocabulary.tool_calls import CallIdentity, call_identity
from antiphon.vocabulary.values import ToolCall

FAILED_ROUNDS_ALLOWED = 2
"""Consecutive rounds without a successful call, after which another would most likely fail too."""
FALLBACK = "fallback"
"""The model's name in the rate of the fallback reasoner."""
FINAL_CALL = "the final call"


def call_key(call: ToolCall) -> CallIdentity:
    """Returns the call's identity, which leaves out the id that the model gave it."""
    return call_identity(call.name, call.arguments)


def refuse_call(state: QueryState, call: ToolCall) -> BreakerTripped | None:
    """Returns why this tool call may not run now, or None if it may."""
    if state.final:
        detail = f"{state.settings.max_rounds} round(s) of tools are used up; {call.name} was not run"
        return BreakerTripped(limit="rounds", detail=detail, tool_call_id=call.id)
    # Another program may repeat a call, and search on after finding nothing: only its number of rounds is a limit.
    if state.imported:
        return None
    if state.finish != "no":
        detail = f"no time is left for {call.name}"
        return BreakerTripped(limit="deadline", detail=detail, tool_call_id=call.id)
    # A repeated id is refused too: an outcome names its call by nothing else.
    if call_key(call) in state.asked or call.id in state.tool_call_ids:
        detail = f"{call.name} was already called with the same arguments; its result is in the sources"
        return BreakerTripped(
            limit="repeated_call", detail=detail, tool_call_id=call.id
        )
    if len(state.round_calls) >= state.settings.max_tool_calls:
        detail = f"a round may hold {state.settings.max_tool_calls} tool calls; {call.name} was not run"
        return BreakerTripped(limit="tool_calls", detail=detail, tool_call_id=call.id)
    return None


def refuse_round(
    state: QueryState, *, new_facts: int | None = None
) -> BreakerTripped | None:
    """Returns why another round of tools may not open even though the limit allows one; None if it may.

    Args:
        new_facts: The number of facts that the last round brought; None if its call asked for no tools.
    """
    if state.round >= state.settings.max_rounds or state.imported:
        return None
    if state.some_tool_failed and state.settings.on_tool_failure == "stop":
        return BreakerTripped(
            limit="tool_failed",
            detail="a tool failed, and this query stops at the first failure",
        )
    if state.failed_rounds >= FAILED_ROUNDS_ALLOWED:
        return BreakerTripped(
            limit="all_tools_failed",
            detail="every tool call of the last two rounds failed",
        )
    # The first round may find nothing: only its result shows the model that it must search in other words.
    if state.round > 1 and new_facts == 0:
        return BreakerTripped(
            limit="no_progress", detail=f"round {state.round} brought nothing new"
        )
    return refuse_unpaid_round(state)


def refuse_unpaid_round(state: QueryState) -> BreakerTripped | None:
    """Returns why the budget refuses to open a round of tools, which must leave enough for a final call."""
    if not state.budget.is_limited:
        return None
    briefing_tokens = _modest_briefing(state) if state.found else LEAST_BRIEFING
    model = model_of(state, final=False)
    call = state.budget.call_with_briefing(model, briefing_tokens, final=False)
    needed = call + kept_back(state)
    return _refuse_unpaid(state, needed, "another round and the final call", model)


def refuse_unpaid_final_call(state: QueryState) -> BreakerTripped | None:
    """Returns why the budget refuses to open the final round."""
    if not state.budget.is_limited:
        return None
    model = model_of(state, final=True)
    needed = state.budget.call_with_briefing(model, LEAST_BRIEFING, final=True)
    return _refuse_unpaid(state, needed, FINAL_CALL, model)


def refuse_briefing(state: QueryState, message_tokens: int) -> BreakerTripped | None:
    """Returns why the budget refuses a call of this size; asked once the briefing has fixed the size."""
    if not state.budget.is_limited:
        return None
    name = FINAL_CALL if state.final else "this round and the final call"
    return _refuse_unpaid(
        state,
        needed_for_call(state, message_tokens),
        name,
        model_of(state, final=state.final),
    )


def spare_for_call(state: QueryState, message_tokens: int) -> Spare:
    """Returns the tokens and dollars that failing attempts at the open round's call may waste."""
    return state.budget.spare(needed_for_call(state, message_tokens))


def needed_for_call(state: QueryState, message_tokens: int) -> Spend:
    """Returns the most that the open round's call takes, and in a round of tools the final call after it."""
    call = state.budget.call_with_messages(
        model_of(state, final=state.final), message_tokens, final=state.final
    )
    if state.final:
        return call
    return call + kept_back(state)


def kept_back(state: QueryState) -> Spend:
    """Returns the part of the budget that a round of tools must leave: a final call with a modest briefing."""
    return state.budget.call_with_briefing(
        model_of(state, final=True), _modest_briefing(state), final=True
    )


def model_of(state: QueryState, *, final: bool) -> str:
    """Returns the name of the model whose rate prices the call."""
    if state.reasoner == "fallback":
        return FALLBACK
    return wanted_model(state, final=final)


def wanted_model(state: QueryState, *, final: bool) -> str:
    """Returns the model that the request to the provider should name."""
    if state.model:
        return state.model
    if final and state.settings.final_model:
        return state.settings.final_model
    return state.settings.model


def _modest_briefing(state: QueryState) -> int:
    return max(LEAST_BRIEFING, int(state.settings.briefing_tokens * MODEST_SHARE))


def _refuse_unpaid(
    state: QueryState, needed: Spend, name: str, model: str
) -> BreakerTripped | None:
    settings, budget = state.settings, state.budget
    if needed.tokens > budget.left.tokens:
        spent = f"{budget.spent.tokens:,.0f} of {settings.max_total_tokens:,} tokens are spent"
        return BreakerTripped(
            limit="tokens", detail=f"{spent}; {name} may take {needed.tokens:,.0f}"
        )
    # Without a limit on cost even a model of unknown price may be called.
    if settings.max_cost_usd is None or needed.usd <= budget.left.usd:
        return None
    if math.isinf(needed.usd):
        return BreakerTripped(limit="cost", detail=f"what {model} costs is not known")
    spent = f"{budget.spent.usd:.4f} of {settings.max_cost_usd:g} USD are spent"
    return BreakerTripped(
        limit="cost", detail=f"{spent}; {name} may cost {needed.usd:.4f}"
    )
