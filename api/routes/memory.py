"""What a query remembered at any moment, and what each of its calls was shown."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query, Response

from antiphon.api.accept import JSON
from antiphon.api.errors import UNAVAILABLE, WITH_NAME
from antiphon.api.facade import Service
from antiphon.synthesizer import briefings_of, memory_at

router = APIRouter(prefix="/api/traces", tags=["traces"])

QueryId = Annotated[str, Path(max_length=200, examples=["q-0b8a4a7c"])]
At = Annotated[int | None, Query(ge=1, description="After this event (`seq`); without it, after the last.")]


def _documented(description: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": {JSON: {"schema": {"type": "object"}}}}}


@router.get(
    "/{query_id}/memory",
    summary="What a query remembered",
    response_class=Response,
    responses=_documented("Parts, facts, attempts, coverage, and what is open.") | WITH_NAME | UNAVAILABLE,
)
async def memory(
    query_id: QueryId,
    service: Service,
    at: At = None,
    part: Annotated[int | None, Query(ge=1, description="Only facts that serve this part, from 1.")] = None,
    tool: Annotated[str | None, Query(max_length=200, description="Only attempts of this tool.")] = None,
) -> Response:
    """The four layers after any event of a query, recorded or running, folded anew from its trace."""
    found = memory_at(await service.store.read(query_id), at)
    if part is not None:
        found = msgspec.structs.replace(found, facts=found.facts_for_part(part))
    if tool is not None:
        found = msgspec.structs.replace(found, attempts=found.attempts_of(tool))
    return Response(msgspec.json.encode(found), media_type=JSON)


@router.get(
    "/{query_id}/briefings",
    summary="What each call was shown, and what changed",
    response_class=Response,
    responses=_documented("One a call, in order: tokens, sources, changes since the one before, what is left out.")
    | WITH_NAME
    | UNAVAILABLE,
)
async def briefings(query_id: QueryId, service: Service) -> Response:
    """What came in, decayed, was merged or dropped between calls, why, and the tokens of each."""
    found = briefings_of(await service.store.read(query_id))
    return Response(msgspec.json.encode({"query_id": query_id, "briefings": found}), media_type=JSON)
