"""What happened in each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from msgspec.structs import asdict

from api.accept import JSON, JSON_LINES, preferred
from api.errors import UNAVAILABLE, WITH_NAME
from api.facade import Service
from api.schemas import TraceReply, TracesReply, TraceSummaryReply
from traces import to_json
from vocabulary.events import AnyEvent, Recorded

router = APIRouter(prefix="/api/traces", tags=["traces"])

MOST_TRACES = 500
_FORMS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Every event in order; with `Accept: application/x-ndjson` one a line.",
        "content": {form: {"schema": {"type": "string"}} for form in JSON_LINES},
    }
}


@router.get("", summary="The traces, the newest first", responses=UNAVAILABLE)
async def listed(
    service: Service,
    limit: Annotated[int, Query(ge=1, le=MOST_TRACES, description="How many.", examples=[50])] = 50,
    before: Annotated[
        float | None, Query(allow_inf_nan=False, description="Only those started before it: seconds since the epoch.")
    ] = None,
) -> TracesReply:
    """One line a query: what was asked, how it ended, how long it took. `next_before` pages on."""
    found = await service.store.list(limit, before)
    return TracesReply(
        traces=[TraceSummaryReply(**asdict(summary)) for summary in found],
        next_before=found[-1].started_at if len(found) == limit else None,
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


def _as_object(query_id: str, events: Sequence[Recorded[AnyEvent]]) -> bytes:
    return b'{"query_id":%s,"events":[%s]}' % (msgspec.json.encode(query_id), b",".join(map(to_json, events)))
