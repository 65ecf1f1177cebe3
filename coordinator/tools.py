"""The rules of tool calls: which of those that a reply asks for are run, early or when the reply is complete; pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.coordinator.breaker import call_key, refuse_call
from antiphon.coordinator.state import Decision, QueryState
from antiphon.coordinator.steps import (
    abandon_calls,
    answer_from_facts,
    answer_with_reply,
    emit_first,
    open_round,
    request_tool,
)
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    Recorded,
    ToolCallsConfirmed,
    ToolCallStreamed,
    ToolsSettled,
)
from antiphon.vocabulary.values import ToolCall

_NOT_ASKED_AGAIN = "the attempt that asked for it failed, and the reply that followed did not ask for it"


def awaits_reply(state: QueryState, call_id: str) -> bool:
    """Returns True if the reply of this call is what the query waits for."""
    return state.phase == "reasoning" and state.call_id == call_id


def after_tool_call_streamed(state: QueryState, recorded: Recorded[ToolCallStreamed]) -> Decision:
    """Starts the call early; the reply's end will confirm it."""
    if not state.settings.early_dispatch or not awaits_reply(state, recorded.event.call_id):
        return state, ()
    # A refusal is emitted once, when the reply is complete.
    if refuse_call(state, recorded.event.call) is not None:
        return state, ()
    return request_tool(state, recorded.event.call, recorded.at)


def request_tools(state: QueryState, recorded: Recorded[ReasoningCompleted]) -> Decision:
    """Asks the breaker about each call that is not under way yet, and confirms the round.

    Calls that were started early by an attempt that then failed are under way too: the same call of the attempt that
    succeeded is answered by them, and those that it does not ask for are abandoned.
    """
    reply = recorded.event
    under_way = match_started(state.round_calls, reply.tool_calls)
    unwanted = [call for call in state.round_calls if call.id not in under_way.values()]
    state, emitted = abandon_calls(state, unwanted, _NOT_ASKED_AGAIN)
    events: list[Event] = list(emitted)
    for call in reply.tool_calls:
        if call.id in under_way:
            continue
        refusal = refuse_call(state, call)
        if refusal is not None:
            events.append(refusal)
            continue
        state, emitted = request_tool(state, call, recorded.at)
        events.extend(emitted)
    if not state.round_calls:
        return emit_first(events, _after_refused_calls(state, recorded))
    # Only what runs is confirmed: a call that was refused has no outcome that anybody could wait for.
    events.append(ToolCallsConfirmed(round=state.round, tool_call_ids=state.tool_call_ids))
    return replace(state, phase="tools"), tuple(events)


def match_started(started: Sequence[ToolCall], wanted: Sequence[ToolCall]) -> dict[str, str]:
    """Returns, for each wanted call that is under way, the id that it was started by.

    A call may have been started by an attempt that failed. Its ids then differ, its name and arguments do not.
    """
    started_ids = {call.id for call in started}
    matched: dict[str, str] = {}
    for call in wanted:
        if call.id in started_ids:
            matched[call.id] = call.id
    # Equal ids come first, so that a call which merely looks the same takes no call from one that is the same.
    unclaimed = [call for call in started if call.id not in matched]
    for call in wanted:
        if call.id in matched:
            continue
        same = _first_same(call, unclaimed)
        if same is not None:
            unclaimed.remove(same)
            matched[call.id] = same.id
    return matched


def _first_same(call: ToolCall, others: Sequence[ToolCall]) -> ToolCall | None:
    key = call_key(call)
    for other in others:
        if call_key(other) == key:
            return other
    return None


def _after_refused_calls(state: QueryState, recorded: Recorded[ReasoningCompleted]) -> Decision:
    """Takes the reply's text for the answer where every call was refused, or asks for one more without tools."""
    if not state.final:
        return open_round(state, final=True)
    if recorded.event.text.text.strip():
        return answer_with_reply(state)
    return answer_from_facts(state, "the model gave no answer", seq=recorded.seq, at=recorded.at)


def after_tools_settled(state: QueryState, recorded: Recorded[ToolsSettled]) -> Decision:
    """Notes how the round's calls ended; the synthesizer goes on."""
    event = recorded.event
    if state.phase != "tools" or event.round != state.round:
        return state, ()
    failed_rounds = 0
    if event.failed and not event.succeeded:
        failed_rounds = state.failed_rounds + 1
    some_tool_failed = state.some_tool_failed or bool(event.failed)
    return replace(state, phase="synthesizing", some_tool_failed=some_tool_failed, failed_rounds=failed_rounds), ()
