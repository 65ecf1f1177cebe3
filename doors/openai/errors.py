"""What is put round the app: errors in OpenAI's shape, the header that names the query, and the key that is none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.bodies import JSON

PREFIX = "/v1/"
QUERY_ID = "x-antiphon-query-id"
NO_KEY = (b"authorization", b"Bearer none")
"""What a client sends that cannot do without a key, and has none."""

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_FIELD = re.compile(r"`([\w.]{1,200})`")


def in_their_shape(status: int, error: Mapping[str, str]) -> dict[str, Any]:
    """Returns the body of an error; `param` is the field that its sentence begins with."""
    kind = "server_error" if status >= 500 else "invalid_request_error"
    field = _FIELD.match(error["message"])
    return {
        "error": {
            **error,
            "type": _TYPES.get(status, kind),
            "param": field and field[1],
        }
    }


class TheirErrors:
    """Rewrites what the API refuses below `/v1/`, also what a guard refuses before a route is found.

    The key `none` is taken for none.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope.get("path", "")).removeprefix(scope.get("root_path", ""))
        if scope["type"] != "http" or not path.startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        # In the scope itself: whoever counts requests reads in it which route was found.
        scope["headers"] = [each for each in scope["headers"] if each != NO_KEY]
        await self._app(scope, receive, _Rewriting(scope, send))


class _Rewriting:
    """Passes a response on, and holds an error back until it is whole."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._state: Mapping[str, Any] = scope.setdefault("state", {})
        self._send = send
        self._held: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=message["headers"])
            if query_id := self._state.get("query_id"):
                headers[QUERY_ID] = query_id
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
        status = start["status"]
        error = msgspec.json.decode(self._body)["error"]
        body = msgspec.json.encode(in_their_shape(status, error))
        headers = MutableHeaders(raw=start["headers"])
        headers["content-length"] = str(len(body))
        # Their clients would ask the same twice more, and the answer would cost three times as much.
        if status in (502, 504):
            headers["x-should-retry"] = "false"
        # They know no 422.
        await self._send({**start, "status": 400 if status == 422 else status})
        return {"type": "http.response.body", "body": body}
