"""A recorded query had again with something changed, and two traces beside one another."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Path, Request, Response

from antiphon.api.accept import JSON
from antiphon.api.answer import answer_of
from antiphon.api.around import around_for
from antiphon.api.errors import UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.facade import Service
from antiphon.api.fork_schemas import ForkReply, ForkRequest
from antiphon.api.guards import require_json
from antiphon.api.under_way import Waited
from antiphon.api.waiting import CLIENT_GONE, GONE, outcome_or_gone
from antiphon.service import diff
from antiphon.vocabulary.events import QueryReceived

router = APIRouter(prefix="/api/traces", tags=["traces"])

QueryId = Annotated[str, Path(max_length=200, examples=["q-0b8a4a7c"])]

_FORKED: dict[int | str, dict[str, Any]] = {
    201: {"model": ForkReply, "description": "The fork ran to its end; `Location` names its trace."}
}
_COMPARED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What each came to, the events that differ and why, the answers sentence by sentence.",
        "content": {JSON: {"schema": {"type": "object"}}},
    }
}


@router.post(
    "/{query_id}/fork",
    summary="Have a query again with something changed",
    status_code=201,
    response_model=ForkReply,
    responses=_FORKED | WITH_BODY | WITH_NAME | UNAVAILABLE,
    dependencies=[Depends(require_json)],
)
async def fork(query_id: QueryId, body: ForkRequest, request: Request, service: Service, under_way: Waited) -> Response:
    """Runs a query again from one event on, with something changed there, as a trace of its own; the original stays.

    The reply comes when the fork is over. A client that goes away cancels it.
    """
    around = around_for(request, body.faults)
    asked = await service.history.fork(query_id, body.at, body.changes(), body.mode, around)
    request.state.query_id = asked.query_id
    with under_way.waiting(asked, GONE):
        outcome = await outcome_or_gone(asked, request)
    if outcome is None:
        return Response(status_code=CLIENT_GONE)
    first = (await service.store.read(asked.query_id))[0].event
    assert isinstance(first, QueryReceived)  # or there had been nothing to fork
    reply = ForkReply(
        query_id=asked.query_id,
        parent=query_id,
        parent_seq=first.parent_seq,
        change=first.change,
        mode=body.mode,
        answer=answer_of(outcome),
        diff=f"/api/traces/{query_id}/diff/{asked.query_id}",
    )
    headers = {"Location": f"/api/traces/{asked.query_id}"}
    return Response(reply.model_dump_json(), status_code=201, media_type=JSON, headers=headers)


@router.get(
    "/{query_id}/diff/{other_id}",
    summary="Compare two traces",
    response_class=Response,
    responses=_COMPARED | WITH_NAME | UNAVAILABLE,
)
async def compare(query_id: QueryId, other_id: QueryId, service: Service) -> Response:
    """Which events differ, and why: `model`, `tool`, `code`, `order`, `settings`, `time`; answers, tokens, cost."""
    left, right = await service.store.read(query_id), await service.store.read(other_id)
    found = await asyncio.to_thread(diff, left, right)
    return Response(msgspec.json.encode(found), media_type=JSON)
