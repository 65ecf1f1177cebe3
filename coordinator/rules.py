"""What happens next: each rule takes the state and an event, and returns the new state and the events to say.

No event fixes the next one: a rule looks at what came and decides. All of them are pure.
"""

from __future__ import annotations

from msgspec.structs import replace

from coordinator import ledger
from coordinator.breaker import call_key, refuse_call, refuse_round
from coordinator.state import QueryState
from vocabulary.events import (
    AnswerRequested,
    AnyEvent,
    BreakerTripped,
    BriefingPrepared,
    CallsAbandoned,
    ContextSynthesized,
    DeadlineNeared,
    DeadlinePassed,
    QueryCancelled,
    QueryClosed,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    RecoveryStarted,
    ResponseAssembled,
    RoundOpened,
    SessionStalled,
    ToolCallsConfirmed,
    ToolCallStreamed,
    ToolRequested,
    ToolsSettled,
)
from vocabulary.values import ToolCall

Decision = tuple[QueryState, tuple[AnyEvent, ...]]


def after_query_received(_: QueryState, said: Recorded[QueryReceived]) -> Decision:
    event = said.event
    state = QueryState(settings=event.settings, received_at=said.at)
    if not event.provider_open:
        return _open_round(state)
    state, opened = _open_round(replace(state, reasoner="fallback"))
    tripped = BreakerTripped(limit="provider_open", detail="the provider failed repeatedly and is being left alone")
    return state, (tripped, *opened)


def after_briefing(state: QueryState, said: Recorded[BriefingPrepared]) -> Decision:
    event = said.event
    if state.phase != "briefing" or event.call_id != state.call_id:
        return state, ()
    if state.finish == "final" and not state.final:
        return _open_round(state, final=True)
    timeout_s = ledger.call_timeout_s(state.settings, said.at - state.received_at, final=state.final)
    request = ReasoningRequested(
        call_id=state.call_id,
        round=state.round,
        final=state.final,
        reasoner=state.reasoner,
        model=state.settings.model,
        max_tokens=state.settings.max_tokens,
        timeout_s=timeout_s,
        max_rounds=state.settings.max_rounds,
        messages=event.messages,
    )
    return replace(state, phase="reasoning"), (request,)


def after_tool_call_streamed(state: QueryState, said: Recorded[ToolCallStreamed]) -> Decision:
    """Early dispatch: the call starts now; the reply's end confirms it."""
    if not state.settings.early_dispatch or not _awaits_reply(state, said.event.call_id):
        return state, ()
    if refuse_call(state, said.event.call) is not None:
        return state, ()  # said once, when the reply is complete
    return _request_tool(state, said.event.call, said.at)


def after_reasoning_completed(state: QueryState, said: Recorded[ReasoningCompleted]) -> Decision:
    reply = said.event
    if not _awaits_reply(state, reply.call_id):
        return state, ()
    if reply.stop_reason == "refusal":
        return _then(_abandon(state, "the model refused"), _answer_with(reply.call_id))
    if reply.tool_calls:
        return _request_tools(state, said)
    if reply.text.text.strip():
        return _then((state, ()), _answer_with(reply.call_id))
    return _after_empty_reply(state, said.seq)


def after_reasoning_failed(state: QueryState, said: Recorded[ReasoningFailed]) -> Decision:
    event = said.event
    if not _awaits_reply(state, event.call_id):
        return state, ()
    if state.finish == "now":
        return _then((state, ()), _partial("no time was left for an answer by the model"))
    if event.failure == "abandoned":
        return _open_round(state, final=True)
    why = f"the model's call failed ({event.failure}): {event.detail}"
    if state.reasoner == "fallback":
        return _then(_abandon(state, why), _partial(why))
    state, said_first = _abandon(replace(state, reasoner="fallback"), why)
    recovery = RecoveryStarted(level="response", why=why, event_seq=said.seq)
    state, opened = _reopen_round(state)
    return state, (*said_first, recovery, *opened)


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
    if state.finish == "now":
        return _then((state, ()), _partial("no time was left for an answer by the model"))
    tripped = refuse_round(state, new_facts=len(said.event.facts)) if state.finish == "no" else None
    state, opened = _open_round(state, final=tripped is not None or state.finish == "final")
    return state, opened if tripped is None else (tripped, *opened)


def after_deadline_neared(state: QueryState, _: Recorded[DeadlineNeared]) -> Decision:
    """Tool rounds end here; what is left is the final call's."""
    if state.final or state.phase in ("answering", "closed"):
        return state, ()
    tripped = BreakerTripped(limit="deadline", detail="the time for tools is used up; the final call follows")
    state, abandoned = _stop_work(replace(state, finish="final"), tripped.detail)
    return state, (tripped, *abandoned)


def after_deadline_passed(state: QueryState, _: Recorded[DeadlinePassed]) -> Decision:
    if state.phase in ("answering", "closed"):
        return state, ()
    tripped = BreakerTripped(limit="deadline", detail="the time is used up; the answer is built from what was found")
    state = replace(state, finish="now")
    if state.phase in ("reasoning", "tools"):
        state, abandoned = _stop_work(state, tripped.detail)
        return state, (tripped, *abandoned)
    return _then((state, (tripped,)), _partial("no time was left for an answer by the model"))


def after_stall(state: QueryState, said: Recorded[SessionStalled]) -> Decision:
    """Nothing moves any more: answer with what there is, then plainly, then close."""
    why = "a part did not answer: " + ", ".join(said.event.waiting_for)
    state = replace(state, stalls=state.stalls + 1)
    if state.stalls > 2:
        return replace(state, phase="closed"), (QueryClosed(status="failed"),)
    recovery = RecoveryStarted(level="response", why=why, event_seq=said.seq)
    mode = _plain(why) if state.phase == "answering" else _partial(why)
    return _then((state, (recovery,)), mode)


def after_response(state: QueryState, _: Recorded[ResponseAssembled]) -> Decision:
    if state.phase == "closed":
        return state, ()
    return replace(state, phase="closed"), (QueryClosed(status="partial" if state.partial else "answered"),)


def after_cancelled(state: QueryState, _: Recorded[QueryCancelled]) -> Decision:
    if state.phase == "closed":
        return state, ()
    return replace(state, phase="closed"), (QueryClosed(status="cancelled"),)


def _awaits_reply(state: QueryState, call_id: str) -> bool:
    return state.phase == "reasoning" and state.call_id == call_id


def _open_round(state: QueryState, *, final: bool = False) -> Decision:
    number = state.round + 1
    final = final or number > state.settings.max_rounds
    state = replace(state, round=number, final=final, phase="briefing", call_id=f"call-{number}", tool_call_ids=())
    return state, (_round_opened(state),)


def _reopen_round(state: QueryState) -> Decision:
    """The same round again, by the reasoner that the state names."""
    state = replace(state, phase="briefing", call_id=f"{state.call_id}-{state.reasoner}", tool_call_ids=())
    return state, (_round_opened(state),)


def _round_opened(state: QueryState) -> RoundOpened:
    left = 0 if state.final else state.settings.max_rounds - state.round
    return RoundOpened(round=state.round, call_id=state.call_id, final=state.final, rounds_left=left)


def _request_tool(state: QueryState, call: ToolCall, at: float) -> Decision:
    timeout_s = ledger.tool_timeout_s(state.settings, at - state.received_at)
    state = replace(state, tool_call_ids=(*state.tool_call_ids, call.id), asked=state.asked | {call_key(call)})
    return state, (ToolRequested(round=state.round, call=call, timeout_s=timeout_s),)


def _request_tools(state: QueryState, said: Recorded[ReasoningCompleted]) -> Decision:
    """Asks the breaker for each call that is not under way yet, and confirms the round."""
    events: list[AnyEvent] = []
    for call in said.event.tool_calls:
        if call.id in state.tool_call_ids:
            continue
        refusal = refuse_call(state, call)
        if refusal is not None:
            events.append(refusal)
            continue
        state, asked = _request_tool(state, call, said.at)
        events.extend(asked)
    if state.tool_call_ids:
        events.append(ToolCallsConfirmed(round=state.round, tool_call_ids=state.tool_call_ids))
        return replace(state, phase="tools"), tuple(events)
    return _then((state, tuple(events)), _after_refused_calls(state, said.event))


def _after_refused_calls(state: QueryState, reply: ReasoningCompleted) -> Decision:
    """Every call was refused: what the reply says is the answer, or one more call without tools gives it."""
    if not state.final:
        return _open_round(state, final=True)
    mode = _answer_with(reply.call_id) if reply.text.text.strip() else _partial("the model gave no answer")
    return _then((state, ()), mode)


def _after_empty_reply(state: QueryState, seq: int) -> Decision:
    why = "the model's reply was empty"
    recovery = RecoveryStarted(level="round", why=why, event_seq=seq)
    following = _then((state, ()), _partial(why)) if state.final else _open_round(state, final=True)
    return _then((state, (recovery,)), following)


def _abandon(state: QueryState, why: str) -> Decision:
    """Gives up tool calls that were started early for a reply that will not come."""
    if not state.tool_call_ids:
        return state, ()
    return replace(state, tool_call_ids=()), (CallsAbandoned(call_ids=state.tool_call_ids, why=why),)


def _stop_work(state: QueryState, why: str) -> Decision:
    """Gives up whatever runs; each such call ends as failed, and that moves the query on."""
    running: dict[str, tuple[str, ...]] = {
        "reasoning": (state.call_id, *state.tool_call_ids),
        "tools": state.tool_call_ids,
    }
    call_ids = running.get(state.phase, ())
    return state, (CallsAbandoned(call_ids=call_ids, why=why),) if call_ids else ()


def _answer_with(call_id: str) -> AnswerRequested:
    return AnswerRequested(mode="reply", call_id=call_id)


def _partial(why: str) -> AnswerRequested:
    return AnswerRequested(mode="partial", why=why)


def _plain(why: str) -> AnswerRequested:
    return AnswerRequested(mode="plain", why=why)


def _then(before: Decision, following: AnswerRequested | Decision) -> Decision:
    """What `before` says, and after it the answer's request or another decision."""
    state, events = before
    if isinstance(following, AnswerRequested):
        state = replace(state, phase="answering", partial=following.mode != "reply")
        return state, (*events, following)
    after_state, more = following
    return after_state, (*events, *more)
