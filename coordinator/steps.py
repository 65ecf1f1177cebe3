"""The steps that rules are put together from: open a round, give up work, ask for an answer."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from antiphon.coordinator import ledger
from antiphon.coordinator.breaker import call_key, kept_back, model_of
from antiphon.coordinator.purse import LEAST_BRIEFING, Spend
from antiphon.coordinator.state import QueryState
from antiphon.vocabulary.events import (
    AnswerRequested,
    CallsAbandoned,
    Event,
    RecoveryStarted,
    RoundOpened,
    ToolCallsConfirmed,
    ToolRequested,
)
from antiphon.vocabulary.values import ToolCall

SEARCH = "search_course_content"
OWN = "own-search-"
"""How the id of a search begins that the coordinator asked for by itself."""
LONGEST_QUERY = 500

Decision = tuple[QueryState, tuple[Event, ...]]
"""What a rule returns: the state from now on, and what is said, in order."""


def is_last(state: QueryState) -> bool:
    """Whether the next round is the final one, because those of tools are used up."""
    number = state.round + 1
    return number > state.settings.max_rounds


def open_round(state: QueryState, *, final: bool = False) -> Decision:
    number = state.round + 1
    final = final or is_last(state)
    state = replace(state, round=number, final=final, phase="briefing", call_id=f"call-{number}", round_calls=())
    return state, (_round_opened(state),)


def reopen_round(state: QueryState, who: str) -> Decision:
    """The same round again; the call's id says who is asked now."""
    state = replace(state, phase="briefing", call_id=f"{state.call_id}-{who}", round_calls=())
    return state, (_round_opened(state),)


def shrink_round(state: QueryState) -> Decision:
    """The same round again, with half of what was shown: the model's context could not hold it."""
    half = min(state.shown_tokens, state.settings.briefing_tokens) // 2
    state = replace(state, briefing_tokens=half, phase="briefing", call_id=f"{state.call_id}-smaller", round_calls=())
    return state, (_round_opened(state),)


def answer_from_facts(state: QueryState, why: str, *, seq: int, at: float) -> Decision:
    """The answer from what was found; where that is nothing, a search of its own for the question comes first."""
    if state.found or state.searched or state.finish == "now" or SEARCH not in state.tools:
        return then((state, ()), partial(why))
    recovery = RecoveryStarted(
        level="response", why="nothing was found yet: a search of its own follows", event_seq=seq
    )
    return then((state, (recovery,)), own_search(state, why, at=at))


def own_search(state: QueryState, why: str, *, at: float) -> Decision:
    """A search for the question that no model asked for; the answer without it, where nothing can search."""
    if SEARCH not in state.tools:
        return then((state, ()), partial(why))
    arguments = msgspec.json.encode({"query": state.question[:LONGEST_QUERY]}).decode()
    call = ToolCall(id=f"{OWN}{state.round}", name=SEARCH, arguments=arguments)
    state = replace(state, phase="tools", searched=why, round_calls=(call,))
    timeout_s = ledger.tool_timeout_s(state.settings, at - state.received_at)
    return state, (
        ToolRequested(round=state.round, call=call, timeout_s=timeout_s),
        ToolCallsConfirmed(round=state.round, tool_call_ids=(call.id,)),
    )


def _round_opened(state: QueryState) -> RoundOpened:
    left = 0 if state.final else state.settings.max_rounds - state.round
    return RoundOpened(
        round=state.round,
        call_id=state.call_id,
        final=state.final,
        rounds_left=left,
        briefing_tokens=briefing_tokens(state),
    )


def briefing_tokens(state: QueryState) -> int | None:
    """Most tokens of the round's briefing: what the budget pays for, where that is less than is usual."""
    if not state.purse.is_limited:
        return state.briefing_tokens
    kept = Spend() if state.final else kept_back(state)
    room = max(LEAST_BRIEFING, state.purse.room(model_of(state, final=state.final), kept))
    if state.settings.context == "transcript" and room >= state.settings.briefing_tokens:
        return state.briefing_tokens
    return room if state.briefing_tokens is None else min(room, state.briefing_tokens)


def abandon(state: QueryState, why: str) -> Decision:
    """Gives up tool calls that were started early for a reply that will not come; they may be asked for again."""
    if not state.round_calls:
        return state, ()
    asked = state.asked - {call_key(call) for call in state.round_calls}
    given_up = CallsAbandoned(call_ids=state.tool_call_ids, why=why)
    return replace(state, round_calls=(), asked=asked), (given_up,)


def stop_work(state: QueryState, why: str) -> Decision:
    """Gives up whatever runs; each such call ends as failed, and that moves the query on."""
    running: dict[str, tuple[str, ...]] = {
        "reasoning": (state.call_id, *state.tool_call_ids),
        "tools": state.tool_call_ids,
        "briefing": (state.summarising,) if state.summarising else (),
    }
    call_ids = running.get(state.phase, ())
    return state, (CallsAbandoned(call_ids=call_ids, why=why),) if call_ids else ()


def answer_with(call_id: str) -> AnswerRequested:
    return AnswerRequested(mode="reply", call_id=call_id)


def partial(why: str) -> AnswerRequested:
    return AnswerRequested(mode="partial", why=why)


def plain(why: str) -> AnswerRequested:
    return AnswerRequested(mode="plain", why=why)


def then(before: Decision, following: AnswerRequested | Decision) -> Decision:
    """What `before` says, and after it the answer's request or another decision."""
    state, events = before
    if isinstance(following, AnswerRequested):
        state = replace(state, phase="answering", partial=following.mode != "reply")
        return state, (*events, following)
    after_state, more = following
    return after_state, (*events, *more)
