"""Routes for the layout of a course: its lessons and files, and corrections of them."""

from __future__ import annotations

import msgspec
from fastapi import APIRouter, Request, Response

from antiphon.api.bodies import require_json
from antiphon.api.dependencies import Service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.refusals import FORBIDDEN, UNAVAILABLE, WITH_BODY, WITH_NAME
from antiphon.api.responses import JSON
from antiphon.api.routes.documents import BEGUN, Title, begun
from antiphon.api.schemas import JobReply, LayoutCorrection, LayoutReply
from antiphon.service import Correction, LessonFiles

router = APIRouter(route_class=GuardedRoute, prefix="/api/layouts", tags=["courses"])


@router.get(
    "/{title:path}",
    summary="How a course is laid out",
    response_model=LayoutReply,
    responses=FORBIDDEN | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("ask")],
)
async def read_layout(title: Title, service: Service) -> Response:
    """The lessons of a course that is a folder, their files, and the files that are left out, each with the reason.

    If the course was not added over the API, only a caller who needs no key may read its layout.
    """
    found = await service.layouts.read(title)
    return Response(msgspec.json.encode(found), media_type=JSON)


@router.put(
    "/{title:path}",
    summary="Correct how a course is laid out",
    status_code=202,
    response_model=JobReply,
    responses=BEGUN | WITH_BODY | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("documents"), at_the_door(require_json)],
)
async def correct_layout(
    title: Title, body: LayoutCorrection, request: Request, service: Service
) -> Response:
    """Indexes a course by a correction of its title, lessons and files, and keeps the correction if that succeeds."""
    lessons = [
        LessonFiles(number=each.number, title=each.title, files=tuple(each.files))
        for each in body.lessons
    ]
    correction = Correction(
        title=body.title, lessons=tuple(lessons), leave_out=tuple(body.leave_out)
    )
    return begun(request, await service.layouts.correct(title, correction))


@router.delete(
    "/{title:path}",
    summary="Forget the corrections of a course",
    status_code=202,
    response_model=JobReply,
    responses=BEGUN | FORBIDDEN | WITH_NAME | UNAVAILABLE,
    dependencies=[needs("documents")],
)
async def forget_layout(title: Title, request: Request, service: Service) -> Response:
    """Indexes a course as its own files say, and forgets its corrections."""
    return begun(request, await service.layouts.forget(title))
