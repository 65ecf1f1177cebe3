"""Asking, and seeing what is being worked out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from antiphon.api.accept import EVENT_STREAM, JSON, preferred
from antiphon.api.answer import QueryAnswer, answer_of, strict_status
from antiphon.api.around import around_for
from antiphon.api.errors import UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.facade import Asked, Service
from antiphon.api.guards import require_json
from antiphon.api.live import LiveAnswer
from antiphon.api.query_schemas import QueryRequest, RunningQueriesReply, RunningReply, WaitingReply
from antiphon.api.under_way import Waited
from antiphon.api.waiting import CLIENT_GONE, GONE, outcome_or_gone
from antiphon.service import Question

router = APIRouter(prefix="/api", tags=["queries"])

_STREAM_EXAMPLE = (
    'event: query_received\nid: 1\ndata: {"query_id":"q-0b8a4a7c","seq":1,…}\n\n'
    'event: text_delta\ndata: {"kind":"text_delta","call_id":"c2","text":"BM25 is"}\n\n'
    'event: answer\ndata: {"answer":"BM25 is strong where exact words matter.",…}\n\n'
)
_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The answer; with `Accept: text/event-stream` every event as it is recorded, the answer last.",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}, "example": _STREAM_EXAMPLE}},
    }
}


@router.post(
    "/query",
    summary="Ask a question",
    response_model=QueryAnswer,
    response_description="The answer.",
    responses=_ANSWERS | WITH_BODY | WITH_NAME | UNAVAILABLE,
    dependencies=[Depends(require_json)],
)
async def ask(body: QueryRequest, request: Request, service: Service, under_way: Waited) -> Response:
    """Answers in at most `max_rounds` rounds of tool calls and within `deadline_s`; at worst in part, saying so.

    `max_total_tokens` and `max_cost_usd` are kept: no call is made that they might not pay for.

    With `Accept: text/event-stream` each recorded event is sent as `event: <kind>`, `id: <seq>`, and its JSON as in
    `GET /api/traces/{query_id}`; `text_delta` and `text_discarded` tell the text as it is written; `answer` is last.
    `events_lost` says that the reader was too slow for the events, `error` that the query failed after it began.
    A client that goes away cancels its query.
    """
    wishes = Question(
        query=body.query,
        session_id=body.session_id,
        max_rounds=body.max_rounds,
        deadline_s=body.deadline_s,
        max_total_tokens=body.max_total_tokens,
        max_cost_usd=body.max_cost_usd,
        compression=body.compression,
    )
    asked = await _started(service, wishes, body, request)
    request.state.query_id = asked.query_id
    if preferred(request.headers.get("accept"), (JSON, EVENT_STREAM)) == EVENT_STREAM:
        return LiveAnswer(asked, under_way)
    with under_way.waiting(asked, GONE):
        outcome = await outcome_or_gone(asked, request)
    if outcome is None:
        return Response(status_code=CLIENT_GONE)
    status = strict_status(outcome) if body.strict else 200
    return Response(answer_of(outcome).model_dump_json(), status_code=status, media_type=JSON)


async def _started(service: Service, wishes: Question, body: QueryRequest, request: Request) -> Asked:
    """The query, with the faults that it is to meet where the service allows that."""
    around = around_for(request, body.faults)
    return await (service.start(wishes) if around is None else service.start(wishes, around))


@router.get("/queries", summary="The queries under way")
async def running(service: Service) -> RunningQueriesReply:
    """Each query that runs now, and who owes it what since when: the first thing to look at when one is slow."""
    queries: list[RunningReply] = []
    for query_id, owed in service.running().items():
        waiting_for = [WaitingReply.model_validate(pending, from_attributes=True) for pending in owed]
        queries.append(RunningReply(query_id=query_id, waiting_for=waiting_for))
    return RunningQueriesReply(queries=queries)
