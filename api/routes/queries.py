"""Routes to ask a question, and for the queries under way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request, Response

from antiphon.api.answer_html import html_of
from antiphon.api.beginning import answer
from antiphon.api.bodies import require_json
from antiphon.api.dependencies import (
    QueryId,
    Service,
)
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.idempotency import IdempotencyKey
from antiphon.api.openapi import EVENTS
from antiphon.api.query_schemas import (
    QueryAnswer,
    QueryRequest,
    RunningQueriesReply,
    RunningReply,
    WaitingReply,
    answer_of,
)
from antiphon.api.refusals import (
    FORBIDDEN,
    FULL,
    NOT_NOW,
    UNAVAILABLE,
    WITH_BODY,
    WITH_NAME,
    WITH_TRACE,
)
from antiphon.api.responses import (
    EVENT_STREAM,
    JSON,
    events_of,
    preferred,
)
from antiphon.api.schemas import CancelledReply
from antiphon.service import Outcome, Query

router = APIRouter(route_class=GuardedRoute, prefix="/api", tags=["queries"])

_STREAM_EXAMPLE = (
    'event: query_received\nid: 1\ndata: {"query_id":"q-0b8a4a7c","seq":1,…}\n\n'
    'event: text_delta\ndata: {"kind":"text_delta","call_id":"c2","text":"BM25 is"}\n\n'
    'event: answer\ndata: {"answer":"BM25 is strong where exact words matter.",…}\n\n'
)
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `Accept: text/event-stream` every event as it is recorded, the answer last.",
        "content": {EVENT_STREAM: EVENTS | {"example": _STREAM_EXAMPLE}},
    },
    502: {
        "model": QueryAnswer,
        "description": "With `strict`: an answer, but not by the model.",
    },
    504: {
        "model": QueryAnswer,
        "description": "With `strict`: an answer, but time ran out before the model's.",
    },
}


@router.post(
    "/query",
    summary="Ask a question",
    response_model=QueryAnswer,
    response_description="The answer.",
    responses=_ANSWERS | WITH_BODY | WITH_NAME | NOT_NOW | FULL | UNAVAILABLE,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def ask(
    body: QueryRequest,
    request: Request,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    """Answers in at most `max_rounds` rounds of tool calls within `deadline_s`; a partial answer says that it is one.

    `max_total_tokens` and `max_cost_usd` are hard limits: a call that might exceed them is not made.

    With `Accept: text/event-stream` each recorded event is sent as `event: <kind>`, `id: <seq>`, and its JSON as in
    `GET /api/traces/{query_id}`; `text_delta` and `text_discarded` carry the text as it is written, with `html` also
    `text_html`; `answer` is last.
    `events_lost` means that the reader was too slow for the events, `error` that the query failed after it began.
    A client that disconnects cancels its query, except a query with an `Idempotency-Key`.
    """

    def live(query: Query) -> AsyncIterator[bytes]:
        return events_of(query, query.follow(), html=body.html)

    def whole(outcome: Outcome, status: int) -> Response:
        reply = answer_of(outcome, html_of(outcome, wanted=body.html))
        return Response(reply.model_dump_json(), status_code=status, media_type=JSON)

    accepted = preferred(request.headers.get("accept"), (JSON, EVENT_STREAM))
    streams = live if accepted == EVENT_STREAM else None
    return await answer(body, request, idempotency_key, whole, streams)


@router.get(
    "/queries",
    summary="The queries under way",
    dependencies=[needs("ask")],
)
async def list_running(service: Service) -> RunningQueriesReply:
    """Each running query, what it waits for, and since when. Look here first when a query is slow."""
    await service.look()
    queries: list[RunningReply] = []
    for query_id, owed in service.running().items():
        waiting_for = [
            WaitingReply.model_validate(pending, from_attributes=True)
            for pending in owed
        ]
        queries.append(RunningReply(query_id=query_id, waiting_for=waiting_for))
    return RunningQueriesReply(queries=queries)


@router.post(
    "/queries/{query_id}/cancel",
    summary="Cancel a query",
    status_code=202,
    responses=FORBIDDEN | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def cancel_query(query_id: QueryId, service: Service) -> CancelledReply:
    """Cancels a running query. Everyone who waits for it gets what was found by then, and its trace stays."""
    await service.cancel(query_id, "it was cancelled over REST")
    return CancelledReply(query_id=query_id, status="cancelling")
