"""Routes for keeping recorded queries: as files, as regression tests; imported and deleted."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from antiphon.api.bodies import JSON_LINES, TRACE_FILES, require_trace_file
from antiphon.api.dependencies import DeletableId, QueryId, Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.refusals import FORBIDDEN, NOT_NOW, UNAVAILABLE, WITH_BODY, WITH_TRACE
from antiphon.api.schemas import DeletedReply, ImportedFileReply, RegressionTestReply

router = APIRouter(route_class=GuardedRoute, prefix="/api/traces", tags=["traces"])

IMPORT = "/api/traces/import"
MOST_IMPORTED = 64_000_000
"""As much as a trace file may have."""

_FILE: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The trace file: a head with a hash over the rest, then an event a line.",
        "content": {JSON_LINES[0]: {"schema": {"type": "string"}}},
    }
}
_SENT_FILE = {
    "requestBody": {
        "required": True,
        "content": {form: {"schema": {"type": "string"}} for form in TRACE_FILES},
    }
}


@router.post(
    "/import",
    summary="Store traces from a file",
    status_code=201,
    responses=WITH_BODY | NOT_NOW | UNAVAILABLE,
    openapi_extra=_SENT_FILE,
    dependencies=[needs("debug"), at_the_door(require_trace_file)],
)
async def import_trace(
    request: Request, response: Response, service: Service
) -> ImportedFileReply:
    """Imports a trace file, or the traces of another program (docs/imports.md).

    A damaged or incomplete trace is refused, and nothing of it is kept; of several, the others are stored.

    A trace can be read, replayed and compared. It runs again (fork, resume) only if ANTIPHON_FORK_MESSAGES is on.
    """
    read = await service.archive.add(await request.body())
    stored = [events[0].query_id for events in read.queries]
    response.headers["Location"] = (
        f"{request.scope['root_path']}/api/traces/{stored[0]}"
    )
    return ImportedFileReply(
        query_id=stored[0],
        events=len(read.queries[0]),
        others=stored[1:],
        refused=list(read.refused),
    )


@router.get(
    "/{query_id}/export",
    summary="A trace as a file",
    response_class=Response,
    responses=_FILE | WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def export_trace(query_id: QueryId, service: Service) -> Response:
    """The file that `POST /api/traces/import` and `antiphon traces import` read."""
    data = await service.archive.export(query_id)
    # An imported id may contain characters that a header cannot.
    name = "".join(each for each in query_id if each.isascii() and each.isalnum())
    headers = {"Content-Disposition": f'attachment; filename="{name[:40]}.jsonl"'}
    return Response(data, media_type=JSON_LINES[0], headers=headers)


@router.get(
    "/{query_id}/test",
    summary="A trace as a regression test",
    responses=WITH_TRACE | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def regression_test(query_id: QueryId, service: Service) -> RegressionTestReply:
    """The two files of a pytest test that replays the trace: save them side by side under the names given."""
    made = await service.archive.regression_test(query_id)
    return RegressionTestReply.model_validate(made, from_attributes=True)


@router.delete(
    "/{query_id}",
    summary="Delete a trace",
    responses=FORBIDDEN | WITH_TRACE | NOT_NOW | UNAVAILABLE,
    dependencies=[needs("debug")],
)
async def delete_trace(query_id: DeletableId, service: Service) -> DeletedReply:
    """Deletes a trace, and the texts that no other trace uses. Cancel a running query first."""
    await service.archive.delete(query_id)
    return DeletedReply(deleted=1)
