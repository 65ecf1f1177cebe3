"""The rules of rounds: from the question to the reply that is its answer.

Each rule takes the state and an event, and returns the new state and the events to say. All of them are pure.
No event fixes the next one: a rule looks at what came and decides.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.coordinator import ledger
from antiphon.coordinator.breaker import call_key, refuse_briefing, refuse_call, refuse_round, wanted_model
from antiphon.coordinator.early import abandon_others, matched
from antiphon.coordinator.purse import purse_of
from antiphon.coordinator.spending import final_round, first_round, pay_failure, pay_reply, spare, too_dear
from antiphon.coordinator.state import QueryState
from antiphon.coordinator.steps import (
    Decision,
    abandon,
    answer_from_facts,
    answer_with,
    is_last,
    open_round,
    partial,
    reopen_round,
    shrink_round,
    then,
)
from antiphon.vocabulary.events import (
    BreakerTripped,
    BriefingPrepared,
    ContextSynthesized,
    Event,
    FailureKind,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    RecoveryLevel,
    RecoveryStarted,
    ToolCallsConfirmed,
    ToolCallStreamed,
    ToolRequested,
    ToolsSettled,
)
from antiphon.vocabulary.values import ToolCall


def after_query_received(_: QueryState, said: Recorded[QueryReceived]) -> Decision:
    event = said.event
    state = QueryState(
        settings=event.settings,
        received_at=said.at,
        question=event.query,
        tools=event.tools,
        purse=purse_of(event),
    )
    if not event.provider_open:
        return first_round(state, said)
    state, opened = first_round(replace(state, reasoner="fallback"), said)
    tripped = BreakerTripped(limit="provider_open", detail="the provider failed repeatedly and is being left alone")
    return state, (tripped, *opened)


def after_briefing(state: QueryState, said: Recorded[BriefingPrepared]) -> Decision:
    event = said.event
    if state.phase != "briefing" or event.call_id != state.call_id:
        return state, ()
    if state.finish == "final" and not state.final:
        return open_round(state, final=True)
    tripped = refuse_briefing(state, event.tokens)
    if tripped is not None:
        return too_dear(state, said, tripped)
    spare_tokens, spare_usd = spare(state, event.tokens)
    elapsed_s = said.at - state.received_at
    request = ReasoningRequested(
        call_id=state.call_id,
        round=state.round,
        final=state.final,
        reasoner=state.reasoner,
        model=wanted_model(state, final=state.final),
        max_tokens=state.settings.max_tokens,
        timeout_s=ledger.call_timeout_s(state.settings, elapsed_s, final=state.final),
        elapsed_s=elapsed_s,
        kept_s=ledger.kept_s(state.settings, final=state.final),
        max_rounds=state.settings.max_rounds,
        messages=event.messages,
        effort=state.settings.effort,
        thinking=state.settings.thinking,
        spare_tokens=spare_tokens,
        spare_usd=spare_usd,
    )
    return replace(state, phase="reasoning", shown_tokens=event.tokens), (request,)


def after_tool_call_streamed(state: QueryState, said: Recorded[ToolCallStreamed]) -> Decision:
    """Early dispatch: the call starts now; the reply's end confirms it."""
    if not state.settings.early_dispatch or not _awaits_reply(state, said.event.call_id):
        return state, ()
    if refuse_call(state, said.event.call) is not None:
        return state, ()  # said once, when the reply is complete
    return _request_tool(state, said.event.call, said.at)


def after_reasoning_completed(state: QueryState, said: Recorded[ReasoningCompleted]) -> Decision:
    reply = said.event
    state = pay_reply(state, reply)
    if not _awaits_reply(state, reply.call_id):
        return state, ()
    if reply.stop_reason == "refusal":
        return then(abandon(state, "the model refused"), answer_with(reply.call_id))
    if reply.tool_calls:
        return _request_tools(state, said)
    if reply.text.text.strip():
        return then((state, ()), answer_with(reply.call_id))
    return _after_empty_reply(state, said)


def after_reasoning_failed(state: QueryState, said: Recorded[ReasoningFailed]) -> Decision:
    event = said.event
    state = pay_failure(state, event)
    if not _awaits_reply(state, event.call_id):
        return state, ()
    if state.finish == "now":
        return then((state, ()), partial("no time was left for an answer by the model"))
    if event.failure == "abandoned":
        return open_round(state, final=True)
    why = f"the model's call failed ({event.failure}): {event.detail}"
    if _may_be_too_much(state, event):
        state, said_first = abandon(state, why)
        recovery = RecoveryStarted(level="round", why=why, event_seq=said.seq)
        state, opened = shrink_round(state)
        return state, (*said_first, recovery, *opened)
    if state.reasoner == "fallback":
        return _after_fallback_failed(state, said, why)
    other = state.settings.other_model
    if other and not state.model and event.failure in OF_ONE_MODEL:
        return _ask_anew(replace(state, model=other), said, "round", why, "other")
    return _ask_anew(replace(state, reasoner="fallback"), said, "response", why, "fallback")


OF_ONE_MODEL: tuple[FailureKind, ...] = (
    *("rate_limit", "overloaded", "timeout", "silence", "truncated_stream", "stream_error", "malformed"),
    *("server_error", "not_found", "invalid_request", "context_window"),
)
"""Failures that another model of the same provider may be spared."""


def _ask_anew(state: QueryState, said: Recorded[ReasoningFailed], level: RecoveryLevel, why: str, who: str) -> Decision:
    """The round again, asked of whom the state names now."""
    state, given_up = abandon(state, why)
    recovery = RecoveryStarted(level=level, why=why, event_seq=said.seq)
    return then((state, (*given_up, recovery)), reopen_round(state, who))


def _may_be_too_much(state: QueryState, event: ReasoningFailed) -> bool:
    """Whether a shorter briefing, which is tried once, may help: a server may call what is too long merely invalid."""
    too_long = event.failure == "context_window" or (event.failure == "invalid_request" and state.found > 0)
    return too_long and state.briefing_tokens is None


def _after_fallback_failed(state: QueryState, said: Recorded[ReasoningFailed], why: str) -> Decision:
    """Rounds of tools are given up: one call from the facts in hand, and where that fails too, the facts themselves."""
    state, given_up = abandon(state, why)
    if state.found and not state.final:
        recovery = RecoveryStarted(level="session", why=why, event_seq=said.seq)
        return then((state, (*given_up, recovery)), open_round(state, final=True))
    return then((state, given_up), answer_from_facts(state, "no model could be asked", seq=said.seq, at=said.at))


def after_tools_settled(state: QueryState, said: Recorded[ToolsSettled]) -> Decision:
    event = said.event
    if state.phase != "tools" or event.round != state.round:
        return state, ()
    all_failed = bool(event.failed) and not event.succeeded
    return replace(
        state,
        phase="synthesizing",
        some_tool_failed=state.some_tool_failed or bool(event.failed),
        failed_rounds=state.failed_rounds + 1 if all_failed else 0,
    ), ()


def after_context_synthesized(state: QueryState, said: Recorded[ContextSynthesized]) -> Decision:
    if state.phase != "synthesizing" or said.event.round != state.round:
        return state, ()
    state = replace(state, found=state.found + len(said.event.facts))
    if state.final_follows and state.found and state.finish != "now":
        return final_round(replace(state, final_follows=False), said)
    if state.finish == "now" or state.searched:
        return then((state, ()), partial(state.searched or "no time was left for an answer by the model"))
    tripped = refuse_round(state, new_facts=len(said.event.facts)) if state.finish == "no" else None
    last = tripped is not None or state.finish == "final" or is_last(state)
    state, opened = final_round(state, said) if last else open_round(state)
    return state, opened if tripped is None else (tripped, *opened)


def _awaits_reply(state: QueryState, call_id: str) -> bool:
    return state.phase == "reasoning" and state.call_id == call_id


def _request_tool(state: QueryState, call: ToolCall, at: float) -> Decision:
    timeout_s = ledger.tool_timeout_s(state.settings, at - state.received_at)
    state = replace(state, round_calls=(*state.round_calls, call), asked=state.asked | {call_key(call)})
    return state, (ToolRequested(round=state.round, call=call, timeout_s=timeout_s),)


def _request_tools(state: QueryState, said: Recorded[ReasoningCompleted]) -> Decision:
    """Asks the breaker for each call that is not under way yet, and confirms the round.

    Calls that were started early by an attempt that then failed are under way too: the same call of the attempt that
    succeeded is answered by them, and those that it does not ask for are given up.
    """
    under_way = matched(state.round_calls, said.event.tool_calls)
    state, given_up = abandon_others(state, frozenset(under_way.values()))
    events: list[Event] = [*given_up]
    for call in said.event.tool_calls:
        if call.id in under_way:
            continue
        refusal = refuse_call(state, call)
        if refusal is not None:
            events.append(refusal)
            continue
        state, asked = _request_tool(state, call, said.at)
        events.extend(asked)
    if state.round_calls:
        events.append(ToolCallsConfirmed(round=state.round, tool_call_ids=state.tool_call_ids))
        return replace(state, phase="tools"), tuple(events)
    return then((state, tuple(events)), _after_refused_calls(state, said))


def _after_refused_calls(state: QueryState, said: Recorded[ReasoningCompleted]) -> Decision:
    """Every call was refused: what the reply says is the answer, or one more call without tools gives it."""
    if not state.final:
        return open_round(state, final=True)
    if said.event.text.text.strip():
        return then((state, ()), answer_with(said.event.call_id))
    return answer_from_facts(state, "the model gave no answer", seq=said.seq, at=said.at)


def _after_empty_reply(state: QueryState, said: Recorded[ReasoningCompleted]) -> Decision:
    why = "the model's reply was empty"
    recovery = RecoveryStarted(level="round", why=why, event_seq=said.seq)
    last = state.final
    following = answer_from_facts(state, why, seq=said.seq, at=said.at) if last else open_round(state, final=True)
    return then((state, (recovery,)), following)
