"""The rules that end a query: the deadline, stalls, the answer, a caller who left; pure."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.coordinator.breaker import model_of
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.coordinator.steps import (
    NO_TIME,
    answer_from_facts,
    answer_partially,
    answer_plainly,
    answer_with_draft,
    emit_first,
    stop_work,
)
from antiphon.coordinator.summaries import Refusal, skip_summary
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
)

STALLS_ALLOWED = 2
"""One for each recovery: first from the facts, then with a plain statement."""


def after_deadline_neared(state: QueryState, _: Recorded[DeadlineNeared]) -> Decision:
    """Ends rounds of tools and summaries: the rest of the time belongs to the final call."""
    if state.phase in ("answering", "closed"):
        return state, ()
    if state.phase == "reviewing":
        # A review may go on: it needs time only if it asks for another round.
        return replace(state, finish="final"), ()
    if state.final:
        # The final call itself may use this time; only a summary that it still waits for may not.
        if not state.summarising:
            return state, ()
        return state, stop_work(state, "the time for summaries is used up")
    tripped = BreakerTripped(
        limit="deadline", detail="the time for tools is used up; the final call follows"
    )
    state = replace(state, finish="final")
    # The fallback reasoner needs none of the remaining time for its answer: its search may go on.
    if state.fallback_in_charge:
        return state, (tripped,)
    return state, (tripped, *stop_work(state, tripped.detail))


def after_deadline_passed(state: QueryState, _: Recorded[DeadlinePassed]) -> Decision:
    """Ends all work and answers from what was found."""
    if state.phase in ("answering", "closed"):
        return state, ()
    if state.phase == "reviewing":
        tripped = BreakerTripped(
            limit="deadline",
            detail="the time is used up; the answer is given without its review",
        )
        return emit_first((tripped,), answer_with_draft(replace(state, finish="now")))
    tripped = BreakerTripped(
        limit="deadline",
        detail="the time is used up; the answer is built from what was found",
    )
    events = (tripped, *stop_work(state, tripped.detail))
    state = replace(state, finish="now")
    # The abandoned call's failure will request the answer: its tools may still bring something until then.
    if state.phase in ("reasoning", "tools"):
        return state, events
    return emit_first(events, answer_partially(state, NO_TIME))


def after_stall(state: QueryState, recorded: Recorded[SessionStalled]) -> Decision:
    """Answers from the facts at the first stall, plainly at the second, and closes the query at the third."""
    if state.phase == "closed":
        # Only the closing event was lost: emit it again.
        return state, (_closed(state),)
    state = replace(state, stalls=state.stalls + 1)
    if state.stalls > STALLS_ALLOWED:
        return replace(state, phase="closed"), (QueryClosed(status="failed"),)
    # Only the optional summary was lost: the briefing goes on without it.
    if state.summarising and state.phase == "briefing":
        return skip_summary(state, Refusal("stalled", "the call for it was lost"))
    if state.phase == "reviewing":
        # A reviewer failed or its judgement was lost. No recovery could give a better answer than the draft.
        return answer_with_draft(state)
    owed = "nothing moved any more: " + ", ".join(recorded.event.waiting_for)
    recovery = RecoveryStarted(level="response", why=owed, event_seq=recorded.seq)
    why = "a part of the service did not answer"
    if state.phase == "answering":
        return emit_first((recovery,), answer_plainly(state, why))
    return emit_first(
        (recovery,), answer_from_facts(state, why, seq=recorded.seq, at=recorded.at)
    )


def after_response(state: QueryState, _: Recorded[ResponseAssembled]) -> Decision:
    """Closes the query."""
    if state.phase == "closed":
        return state, ()
    return replace(state, phase="closed"), (_closed(state),)


def after_resumed(state: QueryState, recorded: Recorded[QueryResumed]) -> Decision:
    """Moves the deadline by the time in which nobody worked on the query, and charges what the lost calls used."""
    event = recorded.event
    model = model_of(state, final=state.final)
    return replace(
        state,
        received_at=state.received_at + event.away_s,
        budget=state.budget.after(event.lost, model),
    ), ()


def after_cancelled(state: QueryState, _: Recorded[QueryCancelled]) -> Decision:
    """Closes the query without an answer."""
    if state.phase == "closed":
        return state, ()
    return replace(state, phase="closed"), (QueryClosed(status="cancelled"),)


def _closed(state: QueryState) -> QueryClosed:
    if state.partial:
        return QueryClosed(status="partial")
    return QueryClosed(status="answered")
