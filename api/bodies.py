"""Limits for the body of a request: its size, the time that it may take to come, and its content type."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.errors import Refusal

JSON = "application/json"
JSON_LINES = ("application/x-ndjson", "application/jsonl")
TRACE_FILES = (*JSON_LINES, "application/json")

BODY_S = 30.0
"""Seconds in which the whole body must come: a caller who sends a byte a minute would hold a connection for ever."""


class BodyLimit:
    """Refuses a body that is too large or too slow: at once if its length is declared, else while it is read.

    FastAPI's `max_body_size` answers a declared length in plain text, past our error handlers.

    Args:
        max_bytes: The most bytes of a body.
        larger: The paths that take more, each with its own limit.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_bytes: int,
        larger: Mapping[str, int],
        within_s: float = BODY_S,
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._larger = larger
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        most = self._larger.get(scope["path"], self._max_bytes)
        declared = Headers(scope=scope).get("content-length", "")
        # Cut, because Python refuses to read a number of thousands of digits.
        if declared.isdecimal() and int(declared[:20]) > most:
            await _too_large(most).as_response()(scope, receive, send)
            return
        await self._app(scope, self._limited(receive, most), send)

    def _limited(self, receive: Receive, most: int) -> Receive:
        total = 0
        is_whole = False
        until = asyncio.get_running_loop().time() + self._within_s

        async def limited() -> Message:
            nonlocal total, is_whole
            # After the body only the end of the connection can come, and waiting for that may take the whole query.
            if is_whole:
                return await receive()
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as error:
                raise _too_slow(self._within_s) from error
            total += len(message.get("body", b""))
            if total > most:
                raise _too_large(most)
            is_whole = not message.get("more_body", False)
            return message

        return limited


def _too_large(most: int) -> Refusal:
    return Refusal(
        413, "body_too_large", f"The body has more than {most:,} bytes: send less."
    )


def _too_slow(within_s: float) -> Refusal:
    return Refusal(
        408,
        "body_too_slow",
        f"The body had not come whole after {within_s:g} seconds: send it faster.",
    )


def require_json(request: Request) -> None:
    """Refuses a body that is not declared as JSON, which a page of another site cannot send without permission.

    Raises:
        Refusal: 415.
    """
    _require(request, (JSON,))


def require_trace_file(request: Request) -> None:
    """Refuses a body that is declared neither as JSON lines nor as JSON, for the same reason.

    Raises:
        Refusal: 415.
    """
    _require(request, TRACE_FILES)


def _require(request: Request, wanted: tuple[str, ...]) -> None:
    content_type = request.headers.get("content-type", "")
    if content_type.partition(";")[0].strip().lower() in wanted:
        return
    found = "another one" if content_type else "none"
    raise Refusal(
        415,
        "not_json",
        f"The body must have Content-Type: {' or '.join(wanted)}, {found} was found.",
    )
