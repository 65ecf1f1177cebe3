"""Routes that change the courses: they add documents, remove courses, and show the jobs that do so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Request, Response
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, needs
from antiphon.api.errors import Refusal
from antiphon.api.refusals import FORBIDDEN, UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.responses import (
    EVENT_STREAM,
    JSON,
    as_event,
    preferred,
)
from antiphon.api.schemas import JobReply
from antiphon.api.streams import FollowedEvents
from antiphon.service import MOST_FILES, OVER, Job, SentFile

router = APIRouter(route_class=GuardedRoute, prefix="/api", tags=["courses"])

ADD = "/api/documents"
FIELD = "files"
MULTIPART = "multipart/form-data"

_FILES = {
    "requestBody": {
        "required": True,
        "content": {
            MULTIPART: {
                "schema": {
                    "type": "object",
                    "required": [FIELD],
                    "properties": {
                        FIELD: {
                            "type": "array",
                            "minItems": 1,
                            "maxItems": MOST_FILES,
                            "items": {
                                "type": "string",
                                "contentMediaType": "application/octet-stream",
                            },
                        }
                    },
                }
            }
        },
    }
}
BEGUN: dict[int | str, dict[str, Any]] = {
    202: {
        "model": JobReply,
        "description": "The job has begun, or waits for its turn; `Location` names it.",
    }
}
_STATES: dict[int | str, dict[str, Any]] = {
    200: {
        "model": JobReply,
        "description": "The job now; with `Accept: text/event-stream` each state as `progress`, the last as `done`.",
        "content": {EVENT_STREAM: {"schema": {"type": "string"}}},
    }
}

JobId = Annotated[str, Path(min_length=1, max_length=64)]
Title = Annotated[
    str,
    Path(min_length=1, max_length=1_000, examples=["Practical Information Retrieval"]),
]


@router.post(
    "/documents",
    summary="Add documents",
    status_code=202,
    response_model=JobReply,
    responses=BEGUN | WITH_BODY | UNAVAILABLE,
    openapi_extra=_FILES,
    dependencies=[needs("documents")],
)
async def add_documents(request: Request, service: Service) -> Response:
    """Accepts up to 100 files of up to 30 MB, 64 MB in all, and indexes them in a separate process.

    A file's name may hold the folders that it came in. One that has been added before under the same name is replaced.
    Files that cannot be used are refused, each with the reason, and the others are indexed.
    """
    form = await _form_of(request)
    try:
        sent = [
            SentFile(name=file.filename or "", content=file.file)
            for file in form
            if isinstance(file, UploadFile)
        ]
        if not sent:
            raise Refusal(
                422, "invalid_request", f"`{FIELD}` is missing: send at least one file."
            )
        return begun(request, await service.documents.add(sent))
    # The parser keeps large files on disk until they are closed.
    finally:
        for file in form:
            if isinstance(file, UploadFile):
                await file.close()


async def _form_of(request: Request) -> list[UploadFile | str]:
    """Reads the files of a form.

    Raises:
        Refusal: The body is not a form, or holds too many files.
    """
    if not request.headers.get("content-type", "").lower().startswith(MULTIPART):
        raise Refusal(
            415, "not_multipart", f"The body must have Content-Type: {MULTIPART}."
        )
    try:
        form = await request.form(max_files=MOST_FILES, max_fields=MOST_FILES)
    except HTTPException as error:
        # The parser's own words are for programmers; our own limits keep their status and words.
        if isinstance(error, Refusal):
            raise
        raise Refusal(
            400,
            "malformed_form",
            f"The form cannot be read, or holds more than {MOST_FILES} files ({error.detail}): send the rest apart.",
        ) from error
    # A mistyped field would lose its files without a word.
    unknown = sorted(set(form) - {FIELD})
    if unknown:
        raise Refusal(
            422,
            "invalid_request",
            f"There is no field `{unknown[0][:40]}` here: send the files as `{FIELD}`.",
        )
    return form.getlist(FIELD)


@router.delete(
    "/courses/{title:path}",
    summary="Remove a course",
    status_code=202,
    response_model=JobReply,
    responses=BEGUN | FORBIDDEN | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("documents")],
)
async def remove_course(title: Title, request: Request, service: Service) -> Response:
    """Removes a course from the index. A file that was added over the API is deleted; any other file stays."""
    return begun(request, await service.documents.remove(title))


def begun(request: Request, job: Job) -> Response:
    """Returns the reply to a request that begins a job."""
    root = request.scope["root_path"]
    headers = {"Location": f"{root}/api/documents/jobs/{job.job_id}"}
    return Response(
        msgspec.json.encode(job), status_code=202, media_type=JSON, headers=headers
    )


@router.get(
    "/documents/jobs/{job_id}",
    summary="How far a job is",
    response_model=JobReply,
    responses=_STATES | WITH_NAME,
    dependencies=[needs("documents")],
)
async def read_job(
    job_id: JobId,
    request: Request,
    service: Service,
) -> Response:
    """A job that changes the index, for as long as the service remembers it."""
    job = service.documents.job(job_id)
    form = preferred(request.headers.get("accept"), (JSON, EVENT_STREAM))
    if form == JSON:
        return Response(msgspec.json.encode(job), media_type=JSON)
    events = _events_of(service.documents.follow(job_id))
    return FollowedEvents(events, service.streams, service.principal)


async def _events_of(states: AsyncIterator[Job]) -> AsyncIterator[bytes]:
    async for job in states:
        kind = "done" if job.state in OVER else "progress"
        yield as_event(kind, msgspec.json.encode(job))
