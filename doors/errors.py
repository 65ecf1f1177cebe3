"""Errors in a protocol's own shape, including refusals by a guard before any route is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.bodies import JSON

InShape = Callable[[int, dict[str, Any]], dict[str, Any]]
"""Makes the body of an error from its status and the API's own body."""


class RewrittenErrors:
    """Passes a response on, but rewrites the body of an error once it is whole."""

    def __init__(self, send: Send, in_shape: InShape) -> None:
        self._send = send
        self._in_shape = in_shape
        self._held: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            # The head of an error waits for its body, whose new length it names.
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
        """Sends the head of an error, and returns the message with its body."""
        error = msgspec.json.decode(self._body)
        body = msgspec.json.encode(self._in_shape(start["status"], error))
        MutableHeaders(raw=start["headers"])["content-length"] = str(len(body))
        await self._send(start)
        return {"type": "http.response.body", "body": body}


class ErrorsInShape:
    """Rewrites the API's refusals at the paths below one.

    Args:
        below: The beginning of these paths.
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
    """Returns True if a request's path, without the prefix of a proxy, has this beginning."""
    if scope["type"] != "http":
        return False
    path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
    return path.startswith(beginning)
