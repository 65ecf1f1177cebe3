"""The rule of reviews: what follows when the reviewers of a draft have judged it; pure.

A query has reviewers where subscribers from outside declare that they review (vocabulary/subscribers.py). They are
asked about each reply that would become the answer, and may have one more round each time, within the limits that
hold for every round. Whatever they say, there is an answer: where no round is left, it carries a doubt instead.
"""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.coordinator.breaker import refuse_round, refuse_unpaid_final_call
from antiphon.coordinator.state import Decision, QueryState
from antiphon.coordinator.steps import answer_with_draft, emit_first, is_last, open_round
from antiphon.vocabulary.events import BreakerTripped, DraftReviewed, Recorded

OBJECTION_CHARS = 500
"""Most of one reviewer's words that the next call is shown: they take room from what was found."""


def after_draft_reviewed(state: QueryState, recorded: Recorded[DraftReviewed]) -> Decision:
    """Gives the draft as the answer when everybody has accepted it; otherwise opens one more round, if one is left."""
    review = recorded.event
    if state.phase != "reviewing" or review.call_id != state.call_id or review.reviewer not in state.unreviewed:
        return state, ()
    unreviewed = tuple(name for name in state.unreviewed if name != review.reviewer)
    objections = state.objections
    if not review.accepted:
        objections = (*objections, f"{review.reviewer}: {review.why[:OBJECTION_CHARS]}")
    state = replace(state, unreviewed=unreviewed, objections=objections)
    # Even after a rejection the others are waited for: the next round is to meet all objections at once.
    if unreviewed:
        return state, ()
    if not objections:
        return answer_with_draft(state)
    return _after_rejection(state)


def _after_rejection(state: QueryState) -> Decision:
    """Opens a round with tools, or else the final round; where that is over or unpaid, the draft is the answer."""
    if state.final:
        return answer_with_draft(state)
    noted = replace(state, note="\n".join(state.objections))
    tripped = _refuse_tools(state)
    if tripped is None and not is_last(state):
        return open_round(noted)
    refused = () if tripped is None else (tripped,)
    unpaid = refuse_unpaid_final_call(state)
    if unpaid is not None:
        return emit_first((*refused, unpaid), answer_with_draft(state))
    return emit_first(refused, open_round(noted, final=True))


def _refuse_tools(state: QueryState) -> BreakerTripped | None:
    if state.finish == "final":
        return BreakerTripped(limit="deadline", detail="the time for tools is used up; the final call follows")
    return refuse_round(state)
