"""The steps that rules are made of: opening a round, abandoning work, requesting an answer; pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from antiphon.coordinator import deadline
from antiphon.coordinator.breaker import call_key, kept_back, model_of
from antiphon.coordinator.budget import LEAST_BRIEFING, Spend
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.vocabulary.events import (
    AnswerRequested,
    CallsAbandoned,
    Event,
    RecoveryStarted,
    ReviewRequested,
    RoundOpened,
    ToolCallsConfirmed,
    ToolRequested,
)
from antiphon.vocabulary.values import ToolCall

SEARCH = "search_course_content"
OWN_SEARCH = "own-search-"
"""The prefix of the id of a search that the coordinator itself requests."""
LONGEST_QUERY = 500
"""Characters of a question in the coordinator's own search: an index matches only a few sentences well."""
SMALLEST_BRIEFING = 100
"""Tokens for the best sentence of about three facts; a smaller briefing would be useless."""
NO_TIME = "no time was left for an answer by the model"
NO_MODEL = "no model could be asked"
NOT_PAID = "the budget does not pay for another call of the model"


def emit_first(events: Sequence[Event], decision: Decision) -> Decision:
    """Returns the decision with these events before its own."""
    state, following = decision
    return state, (*events, *following)


def is_last(state: QueryState) -> bool:
    """Returns True if the next round is the final one because the rounds of tools are used up."""
    number = state.round + 1
    return number > state.settings.max_rounds


def open_round(state: QueryState, *, final: bool = False) -> Decision:
    """Opens the next round; it is the final one if no round of tools is left."""
    number = state.round + 1
    final = final or is_last(state)
    return _open(replace(state, round=number, final=final, call_id=f"call-{number}"))


def open_final_round(state: QueryState, *, at: float) -> Decision:
    """Opens the final round, after a search of ours if the fallback reasoner has called no tool."""
    if state.fallback_in_charge and not state.asked and _may_search(state):
        return search_for_fallback(state, at=at)
    return open_round(state, final=True)


def hand_over(state: QueryState, *, at: float) -> Decision:
    """Has the fallback reasoner make the open round's call, after a search of its own or of ours."""
    state = replace(state, reasoner="fallback")
    if not state.fallback_searches:
        return reopen_round(state, "fallback")
    # The fallback has no context window: what did not fit the model's does fit here.
    state = replace(state, briefing_tokens=None)
    if state.final and _may_search(state):
        return search_for_fallback(state, at=at)
    return reopen_round(state, "fallback")


def reopen_round(state: QueryState, suffix: str) -> Decision:
    """Opens the same round again; the suffix of the call's id says how the call differs from the one before."""
    return _open(replace(state, call_id=f"{state.call_id}-{suffix}"))


def shrink_round(state: QueryState) -> Decision:
    """Opens the same round again with half the briefing, which was too long for the model's context."""
    half = min(state.shown_tokens, state.settings.briefing_tokens) // 2
    smaller = max(half, SMALLEST_BRIEFING)
    return reopen_round(replace(state, briefing_tokens=smaller), "smaller")


def _open(state: QueryState) -> Decision:
    state = replace(state, phase="briefing", round_calls=())
    rounds_left = 0 if state.final else state.settings.max_rounds - state.round
    opened = RoundOpened(
        round=state.round,
        call_id=state.call_id,
        final=state.final,
        rounds_left=rounds_left,
        briefing_tokens=briefing_tokens(state),
        note=state.note,
    )
    return state, (opened,)


def briefing_tokens(state: QueryState) -> int | None:
    """Returns the token limit of the round's briefing, within what the budget pays; None: as the settings say."""
    if not state.budget.is_limited:
        return state.briefing_tokens
    kept = Spend() if state.final else kept_back(state)
    room = max(
        LEAST_BRIEFING,
        state.budget.room(model_of(state, final=state.final), kept, final=state.final),
    )
    # A number here turns a transcript into a briefing, so a transcript that may fit keeps the setting.
    if (
        state.settings.context == "transcript"
        and room >= state.settings.briefing_tokens
    ):
        return state.briefing_tokens
    if state.briefing_tokens is None:
        return room
    return min(room, state.briefing_tokens)


def request_tool(state: QueryState, call: ToolCall, at: float) -> Decision:
    """Requests one tool call of the open round."""
    timeout_s = deadline.tool_timeout_s(state, at - state.received_at)
    state = replace(
        state,
        round_calls=(*state.round_calls, call),
        asked=state.asked | {call_key(call)},
    )
    return state, (ToolRequested(round=state.round, call=call, timeout_s=timeout_s),)


def abandon_calls(state: QueryState, calls: Sequence[ToolCall], why: str) -> Decision:
    """Abandons tool calls that were started early and are not wanted; they may be requested again."""
    if not calls:
        return state, ()
    abandoned_ids = [call.id for call in calls]
    kept_calls = [call for call in state.round_calls if call.id not in abandoned_ids]
    asked = state.asked.difference(map(call_key, calls))
    abandoned = CallsAbandoned(call_ids=tuple(abandoned_ids), why=why)
    return replace(state, round_calls=tuple(kept_calls), asked=asked), (abandoned,)


def stop_work(state: QueryState, why: str) -> tuple[Event, ...]:
    """Abandons all running calls; each ends as failed, and that moves the query on."""
    call_ids: tuple[str, ...] = ()
    if state.phase == "reasoning":
        call_ids = (state.call_id, *state.tool_call_ids)
    elif state.phase == "tools":
        call_ids = state.tool_call_ids
    elif state.phase == "briefing" and state.summarising:
        call_ids = (state.summarising,)
    if not call_ids:
        return ()
    return (CallsAbandoned(call_ids=call_ids, why=why),)


def search_first(state: QueryState, why: str, *, at: float) -> Decision:
    """Searches for the question without a model; answers at once if there is no tool to search with."""
    if SEARCH not in state.tools:
        return answer_partially(state, why)
    arguments = msgspec.json.encode({"query": state.question[:LONGEST_QUERY]}).decode()
    call = ToolCall(id=f"{OWN_SEARCH}{state.round}", name=SEARCH, arguments=arguments)
    state = replace(state, phase="tools", searched=why, round_calls=(call,))
    timeout_s = deadline.tool_timeout_s(state, at - state.received_at)
    return state, (
        ToolRequested(round=state.round, call=call, timeout_s=timeout_s),
        ToolCallsConfirmed(round=state.round, tool_call_ids=(call.id,)),
    )


def search_for_fallback(state: QueryState, *, at: float) -> Decision:
    """Searches for the question, then has the fallback reasoner answer from what it finds."""
    state = replace(state, round=max(1, state.round), final_follows=True)
    return search_first(state, NO_MODEL, at=at)


def _may_search(state: QueryState) -> bool:
    """Returns True if a search of ours may help: nothing has been found yet, and there is time for one."""
    # One search at most: a second would find nothing either.
    if state.found or state.searched or state.finish == "now":
        return False
    return SEARCH in state.tools


def answer_from_facts(state: QueryState, why: str, *, seq: int, at: float) -> Decision:
    """Answers from the facts; without any, searches for the question first."""
    if not _may_search(state):
        return answer_partially(state, why)
    recovery = RecoveryStarted(
        level="response",
        why="nothing was found yet: a search of its own follows",
        event_seq=seq,
    )
    return emit_first((recovery,), search_first(state, why, at=at))


def answer_with_reply(state: QueryState) -> Decision:
    """Takes the reply of the open round's call as the answer once the reviewers have judged it."""
    # When time is up, no review can be awaited; the answer says that it was not judged.
    if not state.reviewers or state.finish == "now":
        return answer_with_draft(state)
    state = replace(state, phase="reviewing", unreviewed=state.reviewers, objections=())
    return state, (ReviewRequested(call_id=state.call_id, round=state.round),)


def answer_with_draft(state: QueryState) -> Decision:
    """Requests the answer from the reply of the open round's call, reviewed or not."""
    return replace(state, phase="answering"), (
        AnswerRequested(mode="reply", call_id=state.call_id),
    )


def answer_partially(
    state: QueryState, why: str, *, call_id: str | None = None
) -> Decision:
    """Requests an answer from the facts in hand.

    Args:
        call_id: The call whose reply the facts replace, if that reply is itself a reason for doubt.
    """
    return replace(state, phase="answering", partial=True), (
        AnswerRequested(mode="partial", call_id=call_id, why=why),
    )


def answer_plainly(state: QueryState, why: str) -> Decision:
    """Requests a statement that there is no answer, and why."""
    return replace(state, phase="answering", partial=True), (
        AnswerRequested(mode="plain", why=why),
    )
