"""The layers around every answer: the headers that keep a browser from guessing, and the access log."""

from __future__ import annotations

import time
from collections.abc import Iterable

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.noted_status import NotedStatus
from antiphon.vocabulary.access import without_keys

log = structlog.get_logger("api.access")

RawHeader = tuple[bytes, bytes]
"""Name, in lower case, and value, in ASGI's form."""

NOTHING = "default-src 'none'; frame-ancestors 'none'"
"""The content policy of JSON and files, in case a browser shows them: they may load nothing."""
DOCUMENTATION = (
    "default-src 'self' 'unsafe-inline'; img-src 'self' data:; worker-src blob:; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
"""The policy of /docs and /redoc, whose HTML is not ours: their inline scripts run, but nothing from other hosts."""


_ALWAYS = (b"x-content-type-options", b"nosniff")
_UNLESS_GIVEN = ((b"cache-control", b"no-store"), (b"referrer-policy", b"no-referrer"))
_POLICY = b"content-security-policy"


def _with_safe(headers: Iterable[RawHeader]) -> list[RawHeader]:
    """Returns the headers of an answer, with the safe ones added that it lacks."""
    # In one pass, because every answer comes through here.
    safe = [header for header in headers if header[0] != _ALWAYS[0]]
    given = dict(safe)
    safe.append(_ALWAYS)
    for header in _UNLESS_GIVEN:
        if header[0] not in given:
            safe.append(header)
    # Our own pages bring a policy; HTML without one is FastAPI's documentation.
    if _POLICY not in given:
        is_page = given.get(b"content-type", b"").startswith(b"text/html")
        policy = DOCUMENTATION if is_page else NOTHING
        safe.append((_POLICY, policy.encode()))
    return safe


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
                message["headers"] = _with_safe(message["headers"])
            await send(message)

        await self._app(scope, receive, send_with_headers)


class AccessLog:
    """Logs method, path, status, time, query_id and key_id of each request once it is over; never the question."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        noted = NotedStatus(send)

        # Measured until the last byte: the time of a stream is the time of its query.
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
