"""The rule of reviews: a draft that all reviewers accept is the answer, a rejected one may get another round; pure.

A query has reviewers if subscribers from outside declare that they review (vocabulary/subscribers.py). They judge
each reply that would become the answer. A rejection opens one more round, subject to the limits of every round. If no
round is left, the query still answers, and the answer carries a doubt.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.coordinator.breaker import refuse_round, refuse_unpaid_final_call
from antiphon.coordinator.query_state import Decision, QueryState
from antiphon.coordinator.steps import (
    answer_with_draft,
    emit_first,
    is_last,
    open_round,
)
from antiphon.vocabulary.events import BreakerTripped, DraftReviewed, Recorded

OBJECTION_CHARS = 500
"""Characters of one objection in the next call's briefing, in which it takes room from the facts."""


def after_draft_reviewed(
    state: QueryState, recorded: Recorded[DraftReviewed]
) -> Decision:
    """Gives the draft as the answer once all have accepted it; after a rejection opens another round if one is left."""
    review = recorded.event
    if (
        state.phase != "reviewing"
        or review.call_id != state.call_id
        or review.reviewer not in state.unreviewed
    ):
        return state, ()
    unreviewed = list(state.unreviewed)
    unreviewed.remove(review.reviewer)
    state = replace(state, unreviewed=tuple(unreviewed))
    if not review.accepted:
        objection = f"{review.reviewer}: {review.why[:OBJECTION_CHARS]}"
        state = replace(state, objections=(*state.objections, objection))
    # Wait for the others even after a rejection: the next round should meet all objections at once.
    if state.unreviewed:
        return state, ()
    if not state.objections:
        return answer_with_draft(state)
    return _after_rejection(state)


def _after_rejection(state: QueryState) -> Decision:
    """Opens a round of tools or else the final round; if that is over or not affordable, the draft is the answer."""
    if state.final:
        return answer_with_draft(state)
    noted = replace(state, note="\n".join(state.objections))
    tripped = _refuse_tools(state)
    if tripped is None and not is_last(state):
        return open_round(noted)
    refusals: list[BreakerTripped] = []
    if tripped is not None:
        refusals.append(tripped)
    unpaid = refuse_unpaid_final_call(state)
    if unpaid is not None:
        refusals.append(unpaid)
        return emit_first(refusals, answer_with_draft(state))
    return emit_first(refusals, open_round(noted, final=True))


def _refuse_tools(state: QueryState) -> BreakerTripped | None:
    if state.finish == "final":
        return BreakerTripped(
            limit="deadline",
            detail="the time for tools is used up; the final call follows",
        )
    return refuse_round(state)
