"""Routes for feedback on answers: stored with their traces, listed and filtered by `GET /api/traces`."""

from __future__ import annotations

import time

from fastapi import APIRouter
from msgspec.structs import asdict

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import QueryId, Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.refusals import FORBIDDEN, UNAVAILABLE, WITH_BODY, WITH_TRACE
from antiphon.api.trace_schemas import (
    FeedbackReply,
    FeedbackRequest,
    FeedbackStoredReply,
)
from antiphon.vocabulary.feedback import Feedback

router = APIRouter(
    route_class=GuardedRoute, prefix="/api/traces/{query_id}/feedback", tags=["traces"]
)


@router.put(
    "",
    summary="Judge an answer",
    responses=WITH_BODY | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def give_feedback(
    query_id: QueryId, body: FeedbackRequest, service: Service
) -> FeedbackStoredReply:
    """Stores a rating, and a note if there is one, in place of an earlier rating of the same answer."""
    note = (body.note or "").strip() or None
    feedback = Feedback(rating=body.rating, note=note, at=time.time())
    stored = await service.store.annotations.set_feedback(query_id, feedback)
    return FeedbackStoredReply(query_id=query_id, feedback=feedback_reply(stored))


@router.delete(
    "",
    summary="Withdraw feedback",
    responses=FORBIDDEN | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def withdraw_feedback(query_id: QueryId, service: Service) -> FeedbackStoredReply:
    """Deletes the rating of an answer with its note."""
    await service.store.annotations.set_feedback(query_id, None)
    return FeedbackStoredReply(query_id=query_id, feedback=None)


def feedback_reply(feedback: Feedback | None) -> FeedbackReply | None:
    return None if feedback is None else FeedbackReply(**asdict(feedback))
