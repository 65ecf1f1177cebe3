"""The rules of tool calls: starting them early, and confirming or refusing them when the reply is complete; pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from antiphon.coordinator.breaker import call_key, refuse_call
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.coordinator.steps import (
    abandon_calls,
    answer_from_facts,
    answer_with_reply,
    emit_first,
    open_final_round,
    request_tool,
)
from antiphon.language.answer_text import answer_of
from antiphon.vocabulary.events import (
    Event,
    ReasoningCompleted,
    Recorded,
    ToolCallsConfirmed,
    ToolCallStreamed,
    ToolsSettled,
)
from antiphon.vocabulary.tool_calls import CallIdentity
from antiphon.vocabulary.values import ToolCall

_NOT_REPEATED = "the attempt that asked for it failed, and the reply that followed did not ask for it"


def awaits_reply(state: QueryState, call_id: str) -> bool:
    """Returns True if the query is waiting for this call's reply."""
    return state.phase == "reasoning" and state.call_id == call_id


def after_tool_call_streamed(
    state: QueryState, recorded: Recorded[ToolCallStreamed]
) -> Decision:
    """Starts the call early; the complete reply will confirm it."""
    if not state.settings.early_dispatch or not awaits_reply(
        state, recorded.event.call_id
    ):
        return state, ()
    # The rule for the complete reply emits the refusal, so that it is recorded once.
    if refuse_call(state, recorded.event.call) is not None:
        return state, ()
    return request_tool(state, recorded.event.call, recorded.at)


def request_tools(
    state: QueryState, recorded: Recorded[ReasoningCompleted]
) -> Decision:
    """Requests each call that is not under way yet, if the breaker allows it, and confirms the round.

    Calls started early by an attempt that then failed are under way too: they answer the same calls of the attempt that
    succeeded. Those that it does not repeat are abandoned.
    """
    reply = recorded.event
    under_way = match_started(state.round_calls, reply.tool_calls)
    unwanted = [call for call in state.round_calls if call.id not in under_way.values()]
    state, emitted = abandon_calls(state, unwanted, _NOT_REPEATED)
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
    # Only running calls are confirmed: a refused one has no outcome to wait for.
    events.append(
        ToolCallsConfirmed(round=state.round, tool_call_ids=state.tool_call_ids)
    )
    return replace(state, phase="tools"), tuple(events)


def match_started(
    started: Sequence[ToolCall], wanted: Sequence[ToolCall]
) -> dict[str, str]:
    """Returns, for each wanted call that is under way, the id under which it was started.

    An attempt that failed may have started the call. Its id then differs; its name and arguments do not.
    """
    wanted_ids = {call.id for call in wanted}
    matched: dict[str, str] = {}
    unclaimed: dict[CallIdentity, list[str]] = {}
    # Equal ids match first, so that a call with equal arguments cannot take a started call that has another's id.
    for call in started:
        if call.id in wanted_ids:
            matched[call.id] = call.id
        else:
            unclaimed.setdefault(call_key(call), []).append(call.id)
    for call in wanted:
        same = unclaimed.get(call_key(call))
        if call.id not in matched and same:
            matched[call.id] = same.pop(0)
    return matched


def _after_refused_calls(
    state: QueryState, recorded: Recorded[ReasoningCompleted]
) -> Decision:
    """Opens the final round if every call was refused; in the final round answers from the reply or the facts."""
    if not state.final:
        return open_final_round(state, at=recorded.at)
    if answer_of(recorded.event, state.rules).text:
        return answer_with_reply(state)
    return answer_from_facts(
        state, "the model gave no answer", seq=recorded.seq, at=recorded.at
    )


def after_tools_settled(
    state: QueryState, recorded: Recorded[ToolsSettled]
) -> Decision:
    """Notes how the round's calls ended; the synthesizer takes over."""
    event = recorded.event
    if state.phase != "tools" or event.round != state.round:
        return state, ()
    state = replace(state, phase="synthesizing")
    if event.succeeded or not event.failed:
        state = replace(state, failed_rounds=0)
    else:
        state = replace(state, failed_rounds=state.failed_rounds + 1)
    if event.failed:
        state = replace(state, some_tool_failed=True)
    return state, ()
