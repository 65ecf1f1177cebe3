"""Routes for the report of the fault matrix that `antiphon faults run --keep` has left."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Response

from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, needs
from antiphon.api.openapi import schema_at
from antiphon.api.refusals import NOT_NOW, UNAVAILABLE, WITH_TRACE
from antiphon.api.responses import JSON
from antiphon.api.schemas import ImportedReply
from antiphon.service import KEEP_REPORT

router = APIRouter(route_class=GuardedRoute, prefix="/api/faults", tags=["faults"])

_REPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`report` is null if none is kept; `command` makes one.",
        "content": {
            JSON: {
                "schema": {
                    "type": "object",
                    "required": ["command", "report"],
                    "properties": {
                        "command": {"type": "string"},
                        "report": {
                            "anyOf": [schema_at("FaultReport"), {"type": "null"}]
                        },
                    },
                }
            }
        },
    }
}
KeptId = Annotated[str, Path(min_length=1, max_length=200)]


@router.get(
    "/report",
    summary="The outcomes of breaking the service",
    response_class=Response,
    responses=_REPORT | UNAVAILABLE,
    dependencies=[needs("admin")],
)
async def read_fault_report(service: Service) -> Response:
    """The last kept run of the fault matrix: every point and kind that was tried, and its outcome."""
    found = {"command": KEEP_REPORT, "report": await service.fault_reports.read()}
    return Response(msgspec.json.encode(found), media_type=JSON)


@router.post(
    "/report/traces/{query_id}",
    summary="Take in the trace of a cell",
    responses=WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("admin")],
)
async def open_fault_trace(query_id: KeptId, service: Service) -> ImportedReply:
    """Stores a trace of the report with the other traces, so that you can inspect and replay it."""
    events = await service.fault_reports.open_trace(query_id)
    return ImportedReply(query_id=service.archive.id_of(query_id), events=events)
