"""What is done round every answer: the headers that keep a browser from guessing, and the access log."""

from __future__ import annotations

import time

import structlog
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.noted_status import NotedStatus
from antiphon.vocabulary.access import without_keys

log = structlog.get_logger("api.access")


NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""What JSON or a file may load where a browser shows it."""
DOCUMENTATION = (
    "default-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src blob:; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""That of /docs and /redoc, whose HTML is another's: their inline scripts run, and nothing from elsewhere does."""


def _policy_for(headers: MutableHeaders) -> str:
    """Returns the Content-Security-Policy of an answer that brings none; the pages bring their own."""
    if headers.get("content-type", "").startswith("text/html"):
        return DOCUMENTATION
    return NOTHING


class SafeHeaders:
    """Adds the headers that keep a browser from guessing what an answer is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Cache-Control", "no-store")
                headers.setdefault("Referrer-Policy", "no-referrer")
                headers.setdefault("Content-Security-Policy", _policy_for(headers))
            await send(message)

        await self._app(scope, receive, send_with_headers)


class AccessLog:
    """Logs method, path, status, time, query_id and key_id of each request once it is over; never what was asked."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        noted = NotedStatus(send)

        # Until the last byte: the time of a stream is the time of its query.
        began = time.perf_counter()
        try:
            await self._app(scope, receive, noted)
        finally:
            log.info(
                "request",
                method=scope["method"],
                path=without_keys(scope["path"]),
                status=noted.status,
                ms=round((time.perf_counter() - began) * 1000, 1),
                query_id=scope.get("state", {}).get("query_id"),
                key_id=scope.get("state", {}).get("key_id"),
            )
