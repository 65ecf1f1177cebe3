"""Errors in a protocol's own shape, also what a guard refuses before a route is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.bodies import JSON

InShape = Callable[[int, dict[str, Any]], dict[str, Any]]
"""Makes the body of an error, by its status and the API's own body."""


class RewrittenErrors:
    """Passes a response on, and rewrites the body of an error once it is whole."""

    def __init__(self, send: Send, in_shape: InShape) -> None:
        self._send = send
        self._in_shape = in_shape
        self._held: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if message["status"] >= 400 and headers.get("content-type") == JSON:
                self._held = message
                return
        elif self._held is not None:
            self._body += message.get("body", b"")
            if message.get("more_body", False):
                return
            message = await self._rewritten(self._held)
        await self._send(message)

    async def _rewritten(self, start: Message) -> Message:
        """Sends the head of an error, and returns its body."""
        error = msgspec.json.decode(self._body)
        body = msgspec.json.encode(self._in_shape(start["status"], error))
        MutableHeaders(raw=start["headers"])["content-length"] = str(len(body))
        await self._send(start)
        return {"type": "http.response.body", "body": body}


class ErrorsInShape:
    """Rewrites what the API refuses at the paths below one.

    Args:
        below: What these paths begin with.
    """

    def __init__(self, app: ASGIApp, below: str, in_shape: InShape) -> None:
        self._app = app
        self._below = below
        self._in_shape = in_shape

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_below(self._below, scope):
            send = RewrittenErrors(send, self._in_shape)
        await self._app(scope, receive, send)


def is_below(beginning: str, scope: Scope) -> bool:
    """Returns True if a request's path begins so, behind that of a proxy."""
    if scope["type"] != "http":
        return False
    path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
    return path.startswith(beginning)
