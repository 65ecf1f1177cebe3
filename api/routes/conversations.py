"""The life of a conversation."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from antiphon.api.errors import WITH_BODY, WITH_NAME
from antiphon.api.facade import Service
from antiphon.api.guards import require_json
from antiphon.api.schemas import ClearReply, ClearRequest

router = APIRouter(prefix="/api", tags=["conversations"])


@router.post(
    "/clear-session",
    summary="Forget a conversation",
    responses=WITH_BODY | WITH_NAME,
    dependencies=[Depends(require_json)],
)
async def clear_session(body: ClearRequest, service: Service) -> ClearReply:
    """Forgets the conversation's exchanges: the next question in it starts afresh. Its traces stay."""
    await service.clear_conversation(body.session_id)
    return ClearReply(status="ok", session_id=body.session_id)
