"""Wraps the app: errors in OpenAI's shape, the header that names the query, and the placeholder for no key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.doors.errors import RewrittenErrors, is_below

PREFIX = "/v1/"
QUERY_ID = "x-antiphon-query-id"
NO_KEY = (b"authorization", b"Bearer none")
"""The placeholder that a client sends if it has no key but must send one."""

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
_FIELD = re.compile(r"`([\w.]{1,200})`")


def in_their_shape(status: int, error: Mapping[str, str]) -> dict[str, Any]:
    """Returns the body of an error; `param` is the field with which its sentence begins."""
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
    """Rewrites the refusals below `/v1/`, including those by a guard before any route is found.

    Treats the key `none` as no key.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_below(PREFIX, scope):
            await self._app(scope, receive, send)
            return
        # Changes the scope itself instead of a copy, because the metrics read in it which route was found.
        scope["headers"] = [each for each in scope["headers"] if each != NO_KEY]
        state: Mapping[str, Any] = scope.setdefault("state", {})

        async def send_as_theirs(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                if query_id := state.get("query_id"):
                    headers[QUERY_ID] = query_id
                status = message["status"]
                # OpenAI's clients would retry twice, and the answer would cost three times as much.
                if status in (502, 504):
                    headers["x-should-retry"] = "false"
                # They do not know 422.
                message["status"] = 400 if status == 422 else status
            await send(message)

        await self._app(scope, receive, RewrittenErrors(send_as_theirs, _body_of))


def _body_of(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return in_their_shape(status, body["error"])
