"""Routes that show one aspect of a recorded query: its memory, its briefings, the sources of its sentences."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response

from antiphon.api.dependencies import FaultOf, QueryId, Service
from antiphon.api.door import GuardedRoute, needs
from antiphon.api.openapi import JsonSchema, schema_at
from antiphon.api.refusals import UNAVAILABLE, WITH_TRACE
from antiphon.api.responses import JSON
from antiphon.api.schemas import MOST_SEQ, FaultReply
from antiphon.service import (
    briefings_of,
    contributions,
    lineage,
    memory_at,
    suspects,
)
from antiphon.vocabulary.errors import ForbiddenError

router = APIRouter(
    route_class=GuardedRoute, prefix="/api/traces/{query_id}", tags=["traces"]
)

Name = Annotated[str | None, Query(max_length=200)]


def _an_object(description: str, schema: JsonSchema) -> dict[int | str, dict[str, Any]]:
    answer = {"description": description, "content": {JSON: {"schema": schema}}}
    return {200: answer} | WITH_TRACE | UNAVAILABLE


def _list_under(name: str, of: str) -> JsonSchema:
    """Describes an object that names the trace and holds one list."""
    return {
        "type": "object",
        "required": ["query_id", name],
        "properties": {
            "query_id": {"type": "string"},
            name: {"type": "array", "items": schema_at(of)},
        },
    }


def _as_list(query_id: str, name: str, found: object) -> Response:
    return Response(
        msgspec.json.encode({"query_id": query_id, name: found}), media_type=JSON
    )


@router.get(
    "/memory",
    summary="What a query remembered",
    response_class=Response,
    responses=_an_object(
        "Parts, facts, attempts, coverage, and what is open.", schema_at("MemoryView")
    ),
    dependencies=[needs("debug")],
)
async def read_memory(
    query_id: QueryId,
    service: Service,
    at: Annotated[
        int | None,
        Query(
            ge=1,
            le=MOST_SEQ,
            description="After this event (`seq`); without it, after the last.",
        ),
    ] = None,
    part: Annotated[
        int | None,
        Query(
            ge=1, le=MOST_SEQ, description="Only facts that serve this part, from 1."
        ),
    ] = None,
    tool: Annotated[
        str | None, Query(max_length=200, description="Only attempts of this tool.")
    ] = None,
) -> Response:
    """The four layers of memory after any event of a query, recorded or running, folded from its trace."""
    found = memory_at(await service.store.read(query_id), at)
    if part is not None:
        found = msgspec.structs.replace(found, facts=found.facts_for_part(part))
    if tool is not None:
        found = msgspec.structs.replace(found, attempts=found.attempts_of(tool))
    return Response(msgspec.json.encode(found), media_type=JSON)


@router.get(
    "/briefings",
    summary="What each call saw, and what changed",
    response_class=Response,
    responses=_an_object(
        "One a call, in order: tokens, sources, changes since the one before, what is left out.",
        _list_under("briefings", "BriefingView"),
    ),
    dependencies=[needs("debug")],
)
async def read_briefings(query_id: QueryId, service: Service) -> Response:
    """Lists what was added, decayed, merged or dropped between calls, with reasons and tokens."""
    found = briefings_of(await service.store.read(query_id))
    return _as_list(query_id, "briefings", found)


@router.get(
    "/lineage",
    summary="The origin of each sentence",
    response_class=Response,
    responses=_an_object(
        "The sentences of the answer in order, each with what it cites and the steps back to the bytes of a request.",
        _list_under("sentences", "Sentence"),
    ),
    dependencies=[needs("debug")],
)
async def read_lineage(query_id: QueryId, service: Service) -> Response:
    """Traces every sentence of the answer back to its citation, passage, tool call, reply and exact request."""
    found = lineage(await service.store.read(query_id))
    return _as_list(query_id, "sentences", found)


@router.get(
    "/contributions",
    summary="What each passage contributed",
    response_class=Response,
    responses=_an_object(
        "The passages in order of discovery, each with the sentences of the answer that cite it.",
        _list_under("contributions", "Contribution"),
    ),
    dependencies=[needs("debug")],
)
async def read_contributions(query_id: QueryId, service: Service) -> Response:
    """Lists, for every passage that was found, the sentences that rest on it."""
    found = contributions(await service.store.read(query_id))
    return _as_list(query_id, "contributions", found)


@router.get(
    "/suspects",
    summary="What went wrong?",
    response_class=Response,
    responses=_an_object(
        "What may have made the answer a bad one, the likeliest first, each with the event that explains it.",
        _list_under("suspects", "Suspect"),
    ),
    dependencies=[needs("debug")],
)
async def read_suspects(query_id: QueryId, service: Service) -> Response:
    """Ranks what may have gone wrong in a trace: failures, limits, lost evidence, unsupported claims, bad sources."""
    events = await service.store.read(query_id)
    # In a thread: comparing sentences takes up to a tenth of a second, during which the loop has queries to serve.
    found = await asyncio.to_thread(suspects, events)
    return _as_list(query_id, "suspects", found)


@router.get(
    "/fault",
    summary="The fault plan that breaks a query at an event",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def read_fault(
    query_id: QueryId,
    request: Request,
    service: Service,
    at: Annotated[int, Query(ge=1, le=MOST_SEQ, description="The event to break.")],
    kind: Name = None,
    point: Name = None,
) -> FaultReply:
    """Makes the plan that a fork takes in `faults`, if the service was started with --allow-faults."""
    fault_of: FaultOf | None = request.app.state.fault_of
    if fault_of is None:
        raise ForbiddenError("This service was built without the fault harness.")
    found = fault_of(await service.store.read(query_id), at, kind, point)
    return FaultReply.model_validate(found)
