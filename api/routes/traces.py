"""What happened in each query."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from msgspec.structs import asdict

from antiphon.api.accept import EVENT_STREAM, JSON, JSON_LINES, preferred
from antiphon.api.errors import UNAVAILABLE, WITH_NAME, describe_failure
from antiphon.api.facade import Service
from antiphon.api.live import KEEP_ALIVE_S, Told, as_event, told_as_event, with_keep_alive
from antiphon.api.schemas import ReplayReply, TraceReply, TracesReply, TraceSummaryReply
from antiphon.api.trace_query import TraceQuery
from antiphon.traces import to_json
from antiphon.vocabulary.errors import SlowReaderError
from antiphon.vocabulary.events import Event, Recorded

router = APIRouter(prefix="/api/traces", tags=["traces"])

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Every event as it is recorded.", "content": {EVENT_STREAM: {"schema": {"type": "string"}}}}
}
_FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every event in order; with `Accept: application/x-ndjson` one a line.",
        "content": {form: {"schema": {"type": "string"}} for form in JSON_LINES},
    }
}


@router.get("", summary="The traces, the newest first", responses=UNAVAILABLE)
async def listed(service: Service, wanted: Annotated[TraceQuery, Query()]) -> TracesReply:
    """One line a query: what was asked, how it ended, how long it took. `next_after_id` pages on, skipping none."""
    found = await service.store.list(wanted.limit, wanted.before, after_id=wanted.after_id, where=wanted.filter())
    full = len(found) == wanted.limit
    return TracesReply(
        traces=[TraceSummaryReply(**asdict(summary)) for summary in found],
        next_before=found[-1].started_at if full else None,
        next_after_id=found[-1].query_id if full else None,
    )


@router.post("/{query_id}/replay", summary="Replay a trace", responses=WITH_NAME | UNAVAILABLE)
async def replay(
    query_id: Annotated[str, Path(max_length=200, examples=["q-0b8a4a7c"])], service: Service
) -> ReplayReply:
    """Runs the deciding parts over the trace again, without model and tools, and compares every event they say.

    `divergence` is null where all is the same; else it names the first event that differs, the field, and a class:
    `code`, `order`, `schema` or `settings`.
    """
    return ReplayReply.model_validate(msgspec.to_builtins(await service.history.replay(query_id)))


@router.get(
    "/{query_id}/events", summary="Follow a query", response_class=Response, responses=_STREAM | WITH_NAME | UNAVAILABLE
)
async def follow(
    query_id: Annotated[str, Path(max_length=200, examples=["q-0b8a4a7c"])],
    service: Service,
    last_event_id: Annotated[int, Header(ge=0, description="The last event that was seen.")] = 0,
) -> StreamingResponse:
    """Server-sent events: everything after `Last-Event-ID`, each once, and then live for as long as the query runs.

    A reader that goes away changes nothing for the query.
    """
    told = service.history.follow(query_id, last_event_id)
    first = await anext(told, None)  # so that a trace that is not there is a 404 and no broken stream
    return StreamingResponse(
        with_keep_alive(_told(first, told, query_id), KEEP_ALIVE_S),
        media_type=EVENT_STREAM,
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


@router.get("/{query_id}", summary="One trace", response_model=TraceReply, responses=_FORMS | WITH_NAME | UNAVAILABLE)
async def read(
    query_id: Annotated[str, Path(max_length=200, examples=["q-0b8a4a7c"])], request: Request, service: Service
) -> Response:
    """Every event of a query, with the requests that were sent and the replies that came."""
    events = await service.store.read(query_id)
    form = preferred(request.headers.get("accept"), (JSON, *JSON_LINES))
    if form == JSON:
        return Response(_as_object(query_id, events), media_type=JSON)
    return Response(b"".join(to_json(event) + b"\n" for event in events), media_type=form)


async def _told(first: Told | None, rest: AsyncIterator[Told], query_id: str) -> AsyncIterator[bytes]:
    if first is None:
        return
    yield told_as_event(first)
    try:
        async for one in rest:
            yield told_as_event(one)
    except SlowReaderError as error:
        yield as_event("events_lost", msgspec.json.encode(describe_failure(error, query_id)))


def _as_object(query_id: str, events: Sequence[Recorded[Event]]) -> bytes:
    return b'{"query_id":%s,"events":[%s]}' % (msgspec.json.encode(query_id), b",".join(map(to_json, events)))
