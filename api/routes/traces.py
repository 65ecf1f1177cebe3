"""Routes for one recorded query: read, follow and replay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from antiphon.api.answer_html import html_of
from antiphon.api.bodies import JSON_LINES
from antiphon.api.brief_traces import LEFT_OUT, brief
from antiphon.api.dependencies import QueryId, Service
from antiphon.api.door import GuardedRoute, needs
from antiphon.api.openapi import EVENTS, RECORDED, lines_of
from antiphon.api.query_schemas import QueryAnswer, answer_of
from antiphon.api.refusals import NOT_NOW, UNAVAILABLE, WITH_TRACE
from antiphon.api.responses import (
    EVENT_STREAM,
    JSON,
    Streamed,
    preferred,
    server_sent,
    streamed_as_event,
)
from antiphon.api.schemas import MOST_SEQ
from antiphon.api.streams import FollowedEvents
from antiphon.api.trace_schemas import ReplayReply, TraceReply
from antiphon.service import to_json
from antiphon.vocabulary.errors import NotFoundError

router = APIRouter(route_class=GuardedRoute, prefix="/api/traces", tags=["traces"])

LastEventId = Annotated[
    str,
    Header(
        # No `seq` is longer, and a database cannot compare longer numbers.
        pattern="^[0-9]{1,15}$",
        description="The `id` of the last event that was seen.",
    ),
]

STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every event as it is recorded.",
        "content": {EVENT_STREAM: EVENTS},
    }
}
_EVENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The event with its place in the trace.",
        "content": {JSON: {"schema": RECORDED}},
    }
}
_FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every event in order; with `Accept: application/x-ndjson` one a line.",
        "content": lines_of(JSON_LINES),
    }
}


@router.post(
    "/{query_id}/replay",
    summary="Replay a trace",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def replay_trace(query_id: QueryId, service: Service) -> ReplayReply:
    """Runs the rules over the trace again, without model or tools, and compares every event that they emit.

    `divergence` is null if all is the same; else it names the first event that differs, the field, and a class:
    `code`, `order`, `schema`, `settings`, or `fault` for a query that was broken on purpose.
    """
    return ReplayReply.model_validate(
        msgspec.to_builtins(await service.history.replay(query_id))
    )


@router.get(
    "/{query_id}/answer",
    summary="The answer of a query",
    responses=WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_answer(
    query_id: QueryId,
    service: Service,
    html: Annotated[
        bool, Query(description="Send the answer as safe HTML too.")
    ] = False,
) -> QueryAnswer:
    """The answer as `POST /api/query` gave it. If the query still runs, the request waits for it."""
    outcome = await service.recorded(query_id).outcome()
    return answer_of(outcome, html_of(outcome, wanted=html))


@router.get(
    "/{query_id}/events",
    summary="Follow a query",
    response_class=Response,
    responses=STREAM | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def follow_trace(
    query_id: QueryId,
    service: Service,
    last_event_id: LastEventId = "0",
    html: Annotated[
        bool, Query(description="Send the text as safe HTML too, as it is written.")
    ] = False,
) -> StreamingResponse:
    """Server-sent events: every event after `Last-Event-ID` once, then live events for as long as the query runs.

    The query goes on if a reader disconnects.
    """
    streamed = service.history.follow(query_id, int(last_event_id))
    first = await anext(
        streamed, None
    )  # so that a trace that is not there is a 404 and no broken stream
    events = _followed(first, streamed, query_id, html=html)
    return FollowedEvents(events, service.streams, service.principal)


async def _followed(
    first: Streamed | None,
    rest: AsyncIterator[Streamed],
    query_id: str,
    *,
    html: bool,
) -> AsyncIterator[bytes]:
    if first is None:
        return
    yield streamed_as_event(first)
    async for event in server_sent(query_id, rest, html=html):
        yield event


@router.get(
    "/{query_id}/event",
    summary="One event",
    response_class=Response,
    responses=_EVENT | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def read_event(
    query_id: QueryId,
    service: Service,
    at: Annotated[
        int, Query(ge=1, le=MOST_SEQ, description="Its place in the trace (`seq`).")
    ],
) -> Response:
    """One event of a query, in full."""
    for recorded in await service.store.read(query_id, at - 1):
        return Response(to_json(recorded), media_type=JSON)
    raise NotFoundError(f"The trace has no event {at} yet.")


@router.get(
    "/{query_id}",
    summary="One trace",
    response_model=TraceReply,
    responses=_FORMS | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def read_trace(
    query_id: QueryId,
    request: Request,
    service: Service,
    without_texts: Annotated[
        bool,
        Query(
            description="Leave out the requests and the texts of tools' results; `left_out` names the fields. "
            "`GET /api/traces/{query_id}/event` has them."
        ),
    ] = False,
) -> Response:
    """Every event of a query, with the requests and replies of its calls."""
    events = await service.store.read(query_id)
    feedback = await service.store.annotations.feedback(query_id)
    left_out: dict[str, list[str]] = {}
    if without_texts:
        events = [brief(recorded) for recorded in events]
        left_out = LEFT_OUT
    form = preferred(request.headers.get("accept"), (JSON, *JSON_LINES))
    # Joined from encoded events, without building the whole body as objects.
    lines = list(map(to_json, events))
    if form == JSON:
        body = b'{"query_id":%s,"left_out":%s,"feedback":%s,"events":[%s]}' % (
            msgspec.json.encode(query_id),
            msgspec.json.encode(left_out),
            msgspec.json.encode(feedback),
            b",".join(lines),
        )
        return Response(body, media_type=JSON)
    # An empty last part, so that the last line, too, ends with a line break.
    return Response(b"\n".join([*lines, b""]), media_type=form)
