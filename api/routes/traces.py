"""Routes for recorded queries: list, read, follow and replay."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse
from msgspec.structs import replace
from pydantic import BaseModel, ConfigDict, Field

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
from antiphon.api.trace_schemas import (
    ReplayReply,
    TraceReply,
    TracesReply,
    TraceSummaryReply,
)
from antiphon.service import FILTER_VALUES, check_filter, to_json
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.ports import TraceFilter, TraceSummary

router = APIRouter(route_class=GuardedRoute, prefix="/api/traces", tags=["traces"])

MOST_TRACES = 500

Name = Annotated[str | None, Field(max_length=200)]
"""One value that traces are filtered by."""

LastEventId = Annotated[
    str,
    Header(
        # Longer numbers are no `seq`, and more than a database can compare.
        pattern="^[0-9]{1,15}$",
        description="The `id` of the last event that was seen.",
    ),
]

Time = Annotated[float | None, Field(allow_inf_nan=False)]
"""Seconds since the epoch."""

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


def _one_of(name: str) -> dict[str, Any]:
    """Returns the few values of a filter for its schema; what is none of them is refused by `check_filter`."""
    return {"enum": [*FILTER_VALUES[name], None]}


class TraceQuery(BaseModel):
    """A page of the listing, and every filter of `TraceFilter` under its own name (a test holds the two together)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    limit: int = Field(50, ge=1, le=MOST_TRACES, description="How many.", examples=[50])
    before: Time = Field(
        None, description="Only those started before it: seconds since the epoch."
    )
    after_id: Name = Field(None, description="Only those listed after this trace.")
    since: Time = Field(None, description="Only those started at or after it.")
    until: Time = Field(
        None,
        description="Only those started before it; stays the same from page to page.",
    )
    status: Name = Field(None, json_schema_extra=_one_of("status"))
    confidence: Name = Field(None, json_schema_extra=_one_of("confidence"))
    session_id: Name = None
    indicator: Name = Field(
        None,
        description="The kind of a doubt, such as tool_failed.",
        json_schema_extra=_one_of("indicator"),
    )
    course: Name = Field(None, description="A course of which passages were found.")
    tool: Name = None
    text: Name = Field(
        None,
        description="Words of the question or the answer, all of which must be there.",
    )
    parent: Name = Field(None, description="The trace that they are forks of.")
    feedback: Name = Field(
        None,
        description="The rating of the answer, or `any`, or `none`.",
        json_schema_extra=_one_of("feedback"),
    )

    def filter(self) -> TraceFilter:
        """Returns the filter as the store takes it."""
        wanted = {name: getattr(self, name) for name in TraceFilter.__struct_fields__}
        return TraceFilter(**wanted)


def summary_reply(summary: TraceSummary) -> TraceSummaryReply:
    """Returns a line of a list as the API sends it."""
    return TraceSummaryReply.model_validate(msgspec.to_builtins(summary))


@router.get(
    "",
    summary="The traces, the newest first",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def list_traces(
    service: Service, wanted: Annotated[TraceQuery, Query()]
) -> TracesReply:
    """One line per query: the question, how the answer begins, what it took, how it was judged.

    `next_after_id` leads to the next page.
    """
    where = wanted.filter()
    check_filter(where)
    # Ids may be given as short as everywhere.
    if where.parent is not None:
        where = replace(where, parent=await service.find(where.parent))
    after = wanted.after_id
    after_id = None if after is None else await service.find(after)
    found = await service.store.list(
        wanted.limit, wanted.before, after_id=after_id, where=where
    )
    summaries = list(map(summary_reply, found))
    # A full page may be the last one too; the next is then empty.
    if len(found) < wanted.limit:
        return TracesReply(traces=summaries, next_before=None, next_after_id=None)
    last = found[-1]
    return TracesReply(
        traces=summaries, next_before=last.started_at, next_after_id=last.query_id
    )


@router.post(
    "/{query_id}/replay",
    summary="Replay a trace",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def replay_trace(query_id: QueryId, service: Service) -> ReplayReply:
    """Runs the rules over the trace again, without model or tools, and compares every event that they emit.

    `divergence` is null where all is the same; else it names the first event that differs, the field, and a class:
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

    A reader that goes away changes nothing for the query.
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
    # Put together from what each event is encoded to already, without building the whole as objects.
    lines = list(map(to_json, events))
    if form == JSON:
        body = b'{"query_id":%s,"left_out":%s,"feedback":%s,"events":[%s]}' % (
            msgspec.json.encode(query_id),
            msgspec.json.encode(left_out),
            msgspec.json.encode(feedback),
            b",".join(lines),
        )
        return Response(body, media_type=JSON)
    # An empty last part, so that the last line ends like the others.
    return Response(b"\n".join([*lines, b""]), media_type=form)
