"""Routes for conversations: what was said in one, forgotten or deleted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from msgspec.structs import asdict

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.refusals import FORBIDDEN, UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.schemas import (
    ClearReply,
    ClearRequest,
    ConversationReply,
    DeletedReply,
    ExchangeReply,
    TraceSummaryReply,
)
from antiphon.vocabulary.ports import TraceFilter

router = APIRouter(route_class=GuardedRoute, prefix="/api", tags=["conversations"])

SHOWN = 100
"""Exchanges and traces of one conversation, the newest."""

ConversationId = Annotated[
    str, Path(min_length=1, max_length=200, examples=["s-5d1f0c2e"])
]


@router.get(
    "/conversations/{session_id}",
    summary="One conversation",
    responses=WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_conversation(
    session_id: ConversationId, service: Service
) -> ConversationReply:
    """What was asked and answered since it was last cleared, and its traces, at most a hundred of each."""
    exchanges = await service.store.exchanges(session_id, SHOWN)
    found = await service.store.list(SHOWN, where=TraceFilter(session_id=session_id))
    return ConversationReply(
        session_id=session_id,
        exchanges=[ExchangeReply(**asdict(each)) for each in exchanges],
        traces=[TraceSummaryReply(**asdict(each)) for each in found],
    )


@router.delete(
    "/conversations/{session_id}",
    summary="Delete a conversation",
    responses=FORBIDDEN | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def delete_conversation(
    session_id: ConversationId, service: Service
) -> DeletedReply:
    """Deletes the conversation with all its traces."""
    return DeletedReply(deleted=await service.archive.delete_conversation(session_id))


@router.post(
    "/clear-session",
    summary="Forget a conversation",
    responses=WITH_BODY | WITH_NAME,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def clear_session(body: ClearRequest, service: Service) -> ClearReply:
    """Forgets the conversation's exchanges, so the next question starts afresh. Its traces stay."""
    await service.clear_conversation(body.session_id)
    return ClearReply(status="ok", session_id=body.session_id)
