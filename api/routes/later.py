"""Routes for questions whose answers are fetched later: to ask one, look at its state, and follow it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from antiphon.api.answer_html import html_of
from antiphon.api.beginning import begin
from antiphon.api.bodies import require_json
from antiphon.api.dependencies import (
    QueryId,
    Service,
)
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.idempotency import IdempotencyKey, IdempotentQueries
from antiphon.api.query_schemas import (
    QueryBegun,
    QueryRequest,
    QueryState,
    answer_of,
)
from antiphon.api.refusals import (
    FULL,
    NOT_NOW,
    UNAVAILABLE,
    WITH_BODY,
    WITH_NAME,
    WITH_TRACE,
)
from antiphon.api.responses import JSON
from antiphon.api.routes.traces import STREAM, LastEventId, follow_trace
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded

router = APIRouter(route_class=GuardedRoute, prefix="/api/queries", tags=["queries"])


@router.post(
    "",
    summary="Ask a question, and fetch the answer later",
    status_code=202,
    response_model=QueryBegun,
    responses=WITH_BODY | WITH_NAME | NOT_NOW | FULL | UNAVAILABLE,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def begin_query(
    body: QueryRequest,
    request: Request,
    service: Service,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Accepts a question and returns once it is stored; `Location` is the path to its answer.

    You need not wait for it, and it survives a crash of the process. A question that cannot be stored is refused with
    503. `html` and `strict` concern the reply with the answer, and change nothing here.
    """
    query = await begin(body, request, service, idempotency_key, is_fetched_later=True)
    # A query with a key is awaited already.
    if idempotency_key is None:
        keyed: IdempotentQueries = request.app.state.idempotent_queries
        keyed.await_end(query)
    begun = QueryBegun(
        query_id=query.query_id, session_id=query.session_id, status="queued"
    )
    place = f"{request.scope['root_path']}/api/queries/{query.query_id}"
    return Response(
        begun.model_dump_json(),
        status_code=202,
        media_type=JSON,
        headers={"Location": place},
    )


@router.get(
    "/{query_id}",
    summary="A question's state, and its answer once there is one",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_query(
    query_id: QueryId,
    service: Service,
    html: Annotated[
        bool, Query(description="Send the answer as safe HTML too.")
    ] = False,
) -> QueryState:
    """`queued`, `running`, or how it ended, with the answer.

    `interrupted`: the process that worked on it is gone, and no other continues it.
    """
    events = await _stored(service, query_id)
    asked = events[0].event if events else None
    session_id = asked.session_id if isinstance(asked, QueryReceived) else ""
    if events and isinstance(events[-1].event, QueryClosed):
        outcome = await service.recorded(query_id).outcome()
        return QueryState(
            query_id=query_id,
            session_id=session_id,
            status=outcome.status,
            answer=answer_of(outcome, html_of(outcome, wanted=html)),
        )
    if service.works_here:
        status = "running" if query_id in service.running() else "interrupted"
    else:
        status = "queued" if len(events) == 1 else "running"
    return QueryState(
        query_id=query_id, session_id=session_id, status=status, answer=None
    )


async def _stored(service: Service, query_id: str) -> list[Recorded[Event]]:
    try:
        return list(await service.store.read(query_id))
    except NotFoundError:
        # The first events of a query that has just begun may not be stored yet.
        if query_id in service.running():
            return []
        raise


@router.get(
    "/{query_id}/events",
    summary="Follow a question",
    response_class=Response,
    responses=STREAM | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def follow_query(
    query_id: QueryId,
    service: Service,
    last_event_id: LastEventId = "0",
) -> StreamingResponse:
    """The same as `GET /api/traces/{query_id}/events`: each event after `Last-Event-ID` once, on any node."""
    return await follow_trace(query_id, service, last_event_id)
