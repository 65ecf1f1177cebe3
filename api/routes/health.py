"""For whatever watches over the process."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response
from msgspec.structs import asdict

from antiphon.api.facade import Service
from antiphon.api.schemas import AliveReply, ReadinessReply

router = APIRouter(tags=["health"])

_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"model": ReadinessReply, "description": "Questions cannot be answered now; `problems` says why."}
}


@router.get("/healthz", summary="Is the process alive?")
async def alive() -> AliveReply:
    """Answers as long as the process does; it asks nothing of the index or the reasoner."""
    return AliveReply(status="ok")


@router.get("/readyz", summary="Can questions be answered?", responses=_NOT_READY)
async def ready(service: Service, response: Response) -> ReadinessReply:
    """200 while an index is open and a reasoner can answer; otherwise 503 with the problems in words."""
    readiness = service.readiness()
    response.status_code = 200 if readiness.ready else 503
    return ReadinessReply(**{**asdict(readiness), "problems": list(readiness.problems)})
