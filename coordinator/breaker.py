"""The circuit breaker: asked before every single tool call and before every round."""

from __future__ import annotations

import msgspec

from coordinator.state import QueryState
from vocabulary.events import BreakerTripped
from vocabulary.values import ToolCall

FAILED_ROUNDS_ALLOWED = 2


def call_key(call: ToolCall) -> tuple[str, str]:
    """What makes two calls the same: name and arguments, whatever their order and whatever `why` they give."""
    try:
        arguments = msgspec.json.decode(call.arguments)
    except msgspec.DecodeError:
        return call.name, call.arguments
    if isinstance(arguments, dict):
        arguments.pop("why", None)
    return call.name, msgspec.json.encode(arguments, order="deterministic").decode()


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
    return None
