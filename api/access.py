"""One log line a request; never what was asked."""

from __future__ import annotations

import time

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = structlog.get_logger("api.access")


class AccessLog:
    """Logs method, path, status, time and query_id of each request once it is over."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status: int | None = None

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began = time.perf_counter()
        try:
            await self._app(scope, receive, noting)
        finally:
            log.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=500 if status is None else status,
                ms=round((time.perf_counter() - began) * 1000, 1),
                query_id=scope.get("state", {}).get("query_id"),
            )
