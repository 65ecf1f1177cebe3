"""The double of the Messages API with a latency and a request count: `uvicorn benchmarks.cluster.model:app`."""

from __future__ import annotations

import asyncio
import os

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from benchmarks.double import alive, messages

LATENCY_S = float(os.environ.get("LATENCY_S", "1.0"))

_counts = {"requests": 0, "answered": 0}


async def answer(request: Request) -> Response:
    """Answers like the double, after the latency."""
    _counts["requests"] += 1
    await asyncio.sleep(LATENCY_S)
    reply = await messages(request)
    _counts["answered"] += 1
    return reply


async def counts(_: Request) -> Response:
    """Answers `GET /counts`: all requests, and those whose caller was still connected."""
    return JSONResponse(_counts)


app = Starlette(
    routes=[
        Route("/v1/messages", answer, methods=["POST"]),
        Route("/counts", counts),
        Route("/healthz", alive),
    ]
)
