"""The rules of rounds: from the question to the reply that is its answer.

Each rule takes the state and an event, and returns the new state and the events to emit. All are pure. An event alone
does not determine the next one: the rule also looks at the state.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.coordinator import deadline, tools
from antiphon.coordinator.breaker import (
    model_of,
    refuse_briefing,
    refuse_round,
    refuse_unpaid_final_call,
    refuse_unpaid_round,
    spare_for_call,
    wanted_model,
)
from antiphon.coordinator.budget import initial_budget
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.coordinator.steps import (
    NO_MODEL,
    NO_TIME,
    NOT_PAID,
    SEARCH,
    abandon_calls,
    answer_from_facts,
    answer_partially,
    answer_with_reply,
    emit_first,
    hand_over,
    is_last,
    open_final_round,
    open_round,
    reopen_round,
    search_first,
    shrink_round,
)
from antiphon.language.answer_text import DECLINED, READS_REPLIES, answer_of
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
    RecoveryStarted,
)

OF_ONE_MODEL: tuple[FailureKind, ...] = (
    "rate_limit", "overloaded", "timeout", "silence", "truncated_stream", "stream_error", "malformed", "server_error",
    "not_found", "invalid_request", "context_window", "out_of_tokens",
)  # fmt: skip
"""Failures that another model of the same provider may not have."""


def after_query_received(_: QueryState, recorded: Recorded[QueryReceived]) -> Decision:
    """Opens the first round, with the fallback reasoner if the provider's circuit is open."""
    event = recorded.event
    state = QueryState(
        rules=event.rules,
        settings=event.settings,
        received_at=recorded.at,
        question=event.query,
        tools=event.tools,
        budget=initial_budget(event),
        reviewers=event.reviewers,
        fallback_searches=event.fallback_searches,
        catalogue=event.catalogue,
        imported=event.imported is not None,
    )
    if not event.provider_open:
        return _first_round(state, recorded)
    tripped = BreakerTripped(
        limit="provider_open",
        detail="the provider failed repeatedly and is being left alone",
    )
    return emit_first(
        (tripped,), _first_round(replace(state, reasoner="fallback"), recorded)
    )


def _first_round(state: QueryState, recorded: Recorded[QueryReceived]) -> Decision:
    """Opens the first round, if the budget pays for it and a final call.

    Otherwise a search takes its place, followed by the final call, if the budget pays at least for that.
    """
    tripped = refuse_unpaid_final_call(state)
    final_follows = False
    if state.settings.max_rounds > 0:
        final_follows = tripped is None
        tripped = refuse_unpaid_round(state)
    if tripped is None and is_last(state):
        return open_final_round(state, at=recorded.at)
    if tripped is None:
        return open_round(state)
    # Without a search tool, the final call is all that the budget can do for the question.
    if final_follows and SEARCH not in state.tools:
        return emit_first((tripped,), open_round(state, final=True))
    state = replace(state, round=1, final_follows=final_follows)
    return emit_first((tripped,), search_first(state, NOT_PAID, at=recorded.at))


def after_briefing(state: QueryState, recorded: Recorded[BriefingPrepared]) -> Decision:
    """Requests the reasoning call that the briefing was made for, if there is time and budget for it."""
    briefing = recorded.event
    if state.phase != "briefing" or briefing.call_id != state.call_id:
        return state, ()
    # The time for tools ran out while the briefing was made: its round will not come.
    if state.finish == "final" and not state.final:
        return open_final_round(state, at=recorded.at)
    tripped = refuse_briefing(state, briefing.tokens)
    if tripped is not None:
        return emit_first((tripped,), _after_unpaid_briefing(state, recorded))
    spare = spare_for_call(state, briefing.tokens)
    elapsed_s = recorded.at - state.received_at
    request = ReasoningRequested(
        call_id=state.call_id,
        round=state.round,
        final=state.final,
        reasoner=state.reasoner,
        model=wanted_model(state, final=state.final),
        max_tokens=state.settings.max_tokens,
        timeout_s=deadline.call_timeout_s(state, elapsed_s),
        elapsed_s=elapsed_s,
        kept_s=deadline.kept_s(state),
        max_rounds=state.settings.max_rounds,
        messages=briefing.messages,
        effort=state.settings.effort,
        thinking=state.settings.thinking,
        spare_tokens=spare.tokens,
        spare_usd=spare.usd,
        catalogue=state.catalogue,
    )
    return replace(state, phase="reasoning", shown_tokens=briefing.tokens), (request,)


def _after_unpaid_briefing(
    state: QueryState, recorded: Recorded[BriefingPrepared]
) -> Decision:
    """Opens a round with a smaller call; if none is smaller, answers from the facts."""
    if not state.final:
        return final_round(state, recorded)
    # A transcript cannot be cut; given a number of tokens, the synthesizer makes a briefing instead, which can.
    if state.settings.context == "transcript" and state.briefing_tokens is None:
        shorter = replace(state, briefing_tokens=state.settings.briefing_tokens)
        return final_round(shorter, recorded)
    return answer_from_facts(state, NOT_PAID, seq=recorded.seq, at=recorded.at)


def final_round(state: QueryState, recorded: Recorded[Event]) -> Decision:
    """Opens the final round; if the budget cannot pay for its call, answers from the facts."""
    tripped = refuse_unpaid_final_call(state)
    if tripped is None:
        return open_final_round(state, at=recorded.at)
    return emit_first(
        (tripped,), answer_from_facts(state, NOT_PAID, seq=recorded.seq, at=recorded.at)
    )


def after_reasoning_completed(
    state: QueryState, recorded: Recorded[ReasoningCompleted]
) -> Decision:
    """Runs the tools that the reply calls, or takes its text as the answer."""
    reply = recorded.event
    state = _pay_for_reply(state, reply)
    if not tools.awaits_reply(state, reply.call_id):
        return state, ()
    if reply.stop_reason == "refusal":
        state, abandoned = abandon_calls(state, state.round_calls, "the model refused")
        return emit_first(abandoned, _after_refusal(state))
    if reply.tool_calls:
        return tools.request_tools(state, recorded)
    answer = answer_of(reply, state.rules)
    if not answer.flaw:
        return answer_with_reply(state)
    # Its text cites something before it ends in a tool call: worth giving if no other call of the model follows.
    if answer.text and state.final:
        detail = "a tool call that the model wrote as text was not run"
        tripped = BreakerTripped(limit="rounds", detail=detail)
        return emit_first((tripped,), answer_with_reply(state))
    return _after_empty_reply(state, recorded, answer.flaw)


def _after_refusal(state: QueryState) -> Decision:
    """Answers from the facts in hand, or if there are none, says that the model declined."""
    # No other call follows: it would show the model the same material, and the model would decline again.
    if state.rules >= READS_REPLIES and state.found:
        return answer_partially(state, DECLINED, call_id=state.call_id)
    return answer_with_reply(state)


def _pay_for_reply(state: QueryState, reply: ReasoningCompleted) -> QueryState:
    # Even a late reply, after the next round was opened, has cost something.
    model = model_of(state, final=state.final)
    budget = state.budget.after(reply.wasted, model)
    most = budget.call_with_messages(model, state.shown_tokens, final=state.final)
    counted = reply.usage + reply.unreported
    budget = budget.after_reply(counted, model, most=most)
    return replace(state, budget=budget.calibrated(reply.usage, state.shown_tokens))


def _after_empty_reply(
    state: QueryState, recorded: Recorded[ReasoningCompleted], why: str
) -> Decision:
    recovery = RecoveryStarted(level="round", why=why, event_seq=recorded.seq)
    if state.final:
        return emit_first(
            (recovery,), answer_from_facts(state, why, seq=recorded.seq, at=recorded.at)
        )
    return emit_first((recovery,), open_final_round(state, at=recorded.at))


def after_reasoning_failed(
    state: QueryState, recorded: Recorded[ReasoningFailed]
) -> Decision:
    """Goes down the ladder: a shorter briefing, another model, the fallback reasoner, the facts themselves."""
    event = recorded.event
    state = replace(
        state,
        budget=state.budget.after(
            event.usage + event.unreported, model_of(state, final=state.final)
        ),
    )
    # A late failure still costs, but no longer decides anything.
    if not tools.awaits_reply(state, event.call_id):
        return state, ()
    if state.finish == "now":
        return answer_partially(state, NO_TIME)
    # Of the reasons to abandon a call, only the end of the time for tools lets the query go on; the call's tool calls
    # were abandoned with it.
    if event.failure == "abandoned":
        return open_final_round(state, at=recorded.at)
    why = f"the model's call failed ({event.failure}): {event.detail}"
    state, abandoned = abandon_calls(state, state.round_calls, why)
    return emit_first(abandoned, _recover(state, recorded, why))


def _recover(
    state: QueryState, recorded: Recorded[ReasoningFailed], why: str
) -> Decision:
    failure = recorded.event.failure
    recovery = RecoveryStarted(level="round", why=why, event_seq=recorded.seq)
    # Each step gives up more than the one before: some of the briefing, the model, the provider, the rounds.
    if _may_be_too_long(state, failure):
        return emit_first((recovery,), shrink_round(state))
    if state.reasoner == "fallback":
        # Gives up rounds of tools: one call from the facts in hand, and if that fails too, the facts themselves.
        if state.found and not state.final:
            return emit_first(
                (replace(recovery, level="session"),), open_round(state, final=True)
            )
        return answer_from_facts(state, NO_MODEL, seq=recorded.seq, at=recorded.at)
    if state.settings.other_model and not state.model and failure in OF_ONE_MODEL:
        state = replace(state, model=state.settings.other_model)
        return emit_first((recovery,), reopen_round(state, "other"))
    return emit_first(
        (replace(recovery, level="response"),), hand_over(state, at=recorded.at)
    )


def _may_be_too_long(state: QueryState, failure: FailureKind) -> bool:
    """Returns True if a shorter briefing may help; it is tried only once."""
    # Without facts there is nothing to leave out: the server would refuse the same request again.
    if state.briefing_tokens is not None or not state.found:
        return False
    # A server may report a request that is too long merely as invalid.
    return failure in ("context_window", "invalid_request")


def after_context_synthesized(
    state: QueryState, recorded: Recorded[ContextSynthesized]
) -> Decision:
    """Opens the next round: with tools, if one is left and the breaker allows it, or the final one."""
    event = recorded.event
    if state.phase != "synthesizing" or event.round != state.round:
        return state, ()
    state = replace(state, found=state.found + len(event.facts))
    # The model did not ask for this search, so it gets no round to ask for more.
    if state.searched:
        return _after_own_search(state, recorded)
    if state.finish == "now":
        return answer_partially(state, NO_TIME)
    if state.finish == "final":
        return final_round(state, recorded)
    tripped = refuse_round(state, new_facts=len(event.facts))
    if tripped is not None:
        return emit_first((tripped,), final_round(state, recorded))
    if is_last(state):
        return final_round(state, recorded)
    return open_round(state)


def _after_own_search(
    state: QueryState, recorded: Recorded[ContextSynthesized]
) -> Decision:
    if state.final_follows and state.found and state.finish != "now":
        return final_round(replace(state, final_follows=False), recorded)
    return answer_partially(state, state.searched)
