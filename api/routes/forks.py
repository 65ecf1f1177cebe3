"""Forks: a recorded query run from one event on with something changed; and the comparison of two traces."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import (
    Caller,
    OtherId,
    QueryId,
    Service,
    Waited,
    interceptor_for,
)
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.fork_schemas import ForkPlanReply, ForkReply, ForkRequest
from antiphon.api.openapi import schema_at
from antiphon.api.query_schemas import QueryAnswer, answer_of
from antiphon.api.refusals import FORBIDDEN, NOT_NOW, UNAVAILABLE, WITH_BODY, WITH_TRACE
from antiphon.api.responses import (
    CLIENT_GONE,
    CLIENT_GONE_STATUS,
    JSON,
    outcome_or_gone,
)
from antiphon.service import Mode, Outcome, Query
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.events import QueryReceived

router = APIRouter(route_class=GuardedRoute, prefix="/api/traces", tags=["traces"])

_FORKED: dict[int | str, dict[str, Any]] = {
    201: {
        "model": ForkReply,
        "description": "The fork ran to its end; `Location` names its trace.",
    }
}
_COMPARED: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "What each came to, the events that differ and why, the answers sentence by sentence.",
        "content": {JSON: {"schema": schema_at("Diff")}},
    }
}


@router.post(
    "/{query_id}/fork",
    summary="Run a query again with something changed",
    status_code=201,
    response_model=ForkReply,
    responses=_FORKED | WITH_BODY | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("debug"), at_the_door(require_json)],
)
async def fork_trace(
    query_id: QueryId,
    body: ForkRequest,
    request: Request,
    service: Service,
    waited: Waited,
    caller: Caller,
) -> Response:
    """Runs a query again from one event, with a change there, as a new trace; the original stays.

    The reply comes when the fork is over. A client that disconnects cancels it. The modes `live` and `remodel` cost
    tokens, and need the scope `live`.
    """
    _check_mode(caller, body.mode)
    interceptor = interceptor_for(request, body.faults)
    forked = await service.fork(
        query_id, body.at, body.changes(), body.mode, interceptor
    )
    outcome = await _outcome(forked, request, waited)
    if outcome is None:
        return Response(status_code=CLIENT_GONE_STATUS)
    # The trace itself records in words at which event the two part, and the change.
    events = await service.store.read(forked.query_id)
    first = events[0].event
    assert isinstance(first, QueryReceived)  # what else cannot be forked
    root = request.scope["root_path"]
    reply = ForkReply(
        query_id=forked.query_id,
        parent=query_id,
        parent_seq=first.parent_seq,
        change=first.change,
        mode=body.mode,
        answer=answer_of(outcome),
        diff=f"{root}/api/traces/{query_id}/diff/{forked.query_id}",
    )
    headers = {"Location": f"{root}/api/traces/{forked.query_id}"}
    return Response(
        reply.model_dump_json(), status_code=201, media_type=JSON, headers=headers
    )


@router.post(
    "/{query_id}/fork/plan",
    summary="What a fork would call, and may cost",
    responses=WITH_BODY | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("debug"), at_the_door(require_json)],
)
async def plan_fork(
    query_id: QueryId,
    body: ForkRequest,
    request: Request,
    service: Service,
    caller: Caller,
) -> ForkPlanReply:
    """Checks a fork without running or recording anything, and says which parts of it would be live."""
    _check_mode(caller, body.mode)
    interceptor = interceptor_for(request, body.faults)
    plan = await service.plan_fork(
        query_id, body.at, body.changes(), body.mode, interceptor
    )
    return ForkPlanReply.model_validate(plan, from_attributes=True)


@router.post(
    "/{query_id}/resume",
    summary="Go on with an interrupted query",
    response_model=QueryAnswer,
    responses=FORBIDDEN | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("live")],
)
async def resume_query(
    query_id: QueryId, request: Request, service: Service, waited: Waited
) -> Response:
    """Resumes a query whose process ended, and repeats only the calls in flight. A finished query stays as it is.

    The reply comes when the query is over. A client that disconnects cancels it.
    """
    resumed = await service.resume(query_id)
    outcome = await _outcome(resumed, request, waited)
    if outcome is None:
        return Response(status_code=CLIENT_GONE_STATUS)
    return Response(answer_of(outcome).model_dump_json(), media_type=JSON)


def _check_mode(caller: Principal, mode: Mode) -> None:
    if mode != "recorded":
        caller.require("live")


async def _outcome(query: Query, request: Request, waited: Waited) -> Outcome | None:
    # For the access log, and for an error that comes after this.
    request.state.query_id = query.query_id
    with waited.waiting(query, CLIENT_GONE):
        return await outcome_or_gone(query, request)


@router.get(
    "/{query_id}/diff/{other_id}",
    summary="Compare two traces",
    response_class=Response,
    responses=_COMPARED | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def compare_traces(
    query_id: QueryId, other_id: OtherId, service: Service
) -> Response:
    """Compares two traces: the events that differ, and why; answers, tokens, cost.

    Why: `question`, `change`, `model`, `tool`, `code`, `order`, `settings`, `time` or `subscriber`.
    """
    found = await service.history.diff(query_id, other_id)
    return Response(msgspec.json.encode(found), media_type=JSON)
