"""The rules of endings: the deadline, a session that stands still, the answer, the caller who left.

Pure, like the rules of rounds.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.coordinator import summaries
from antiphon.coordinator.state import QueryState
from antiphon.coordinator.steps import Decision, answer_from_facts, partial, plain, stop_work, then
from antiphon.vocabulary.events import (
    BreakerTripped,
    DeadlineNeared,
    DeadlinePassed,
    QueryCancelled,
    QueryClosed,
    QueryResumed,
    Recorded,
    RecoveryStarted,
    ResponseAssembled,
    SessionStalled,
    ToolAnsweredLate,
)


def after_deadline_neared(state: QueryState, _: Recorded[DeadlineNeared]) -> Decision:
    """Tool rounds end here, and summaries; what is left is the final call's."""
    if state.phase in ("answering", "closed"):
        return state, ()
    if state.final:
        return stop_work(state, "the time for summaries is used up") if state.summarising else (state, ())
    tripped = BreakerTripped(limit="deadline", detail="the time for tools is used up; the final call follows")
    state, abandoned = stop_work(replace(state, finish="final"), tripped.detail)
    return state, (tripped, *abandoned)


def after_deadline_passed(state: QueryState, _: Recorded[DeadlinePassed]) -> Decision:
    if state.phase in ("answering", "closed"):
        return state, ()
    tripped = BreakerTripped(limit="deadline", detail="the time is used up; the answer is built from what was found")
    state, abandoned = stop_work(replace(state, finish="now"), tripped.detail)
    if state.phase in ("reasoning", "tools"):
        return state, (tripped, *abandoned)
    return then((state, (tripped, *abandoned)), partial("no time was left for an answer by the model"))


def after_stall(state: QueryState, said: Recorded[SessionStalled]) -> Decision:
    """Nothing moves any more: answer with what there is, then plainly, then close."""
    if state.phase == "closed":  # the end was lost on its way: it is said again, and nothing else
        return state, (QueryClosed(status="partial" if state.partial else "answered"),)
    state = replace(state, stalls=state.stalls + 1)
    if state.stalls > 2:
        return replace(state, phase="closed"), (QueryClosed(status="failed"),)
    if state.summarising and state.phase == "briefing":
        return summaries.do_without(state, "stalled", "the call for it was lost")
    owed = "nothing moved any more: " + ", ".join(said.event.waiting_for)
    recovery = RecoveryStarted(level="response", why=owed, event_seq=said.seq)
    why = "a part of the service did not answer"
    if state.phase == "answering":
        return then((state, (recovery,)), plain(why))
    return then((state, (recovery,)), answer_from_facts(state, why, seq=said.seq, at=said.at))


def after_response(state: QueryState, _: Recorded[ResponseAssembled]) -> Decision:
    if state.phase == "closed":
        return state, ()
    return replace(state, phase="closed"), (QueryClosed(status="partial" if state.partial else "answered"),)


def after_late_answer(state: QueryState, _: Recorded[ToolAnsweredLate]) -> Decision:
    """It is on record, and that is all: its call has its outcome, and its round may be over."""
    return state, ()


def after_resumed(state: QueryState, said: Recorded[QueryResumed]) -> Decision:
    """The time in which nobody worked is no time of the query's."""
    return replace(state, received_at=state.received_at + said.event.away_s), ()


def after_cancelled(state: QueryState, _: Recorded[QueryCancelled]) -> Decision:
    if state.phase == "closed":
        return state, ()
    return replace(state, phase="closed"), (QueryClosed(status="cancelled"),)
