"""The server over HTTP: one route, behind the API's own guard. A question runs as one of `POST /api/query` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import msgspec
from fastapi import APIRouter, FastAPI, Request, Response
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import INTERNAL_ERROR, INVALID_REQUEST
from sse_starlette.sse import AppStatus
from starlette.types import Message, Receive, Scope, Send

from antiphon.api import Door
from antiphon.api.beginning import begin
from antiphon.api.bodies import JSON, require_json
from antiphon.api.dependencies import running_queries, seen_service
from antiphon.api.door import GuardedRoute, at_the_door, needs
from antiphon.api.errors import ErrorBody
from antiphon.api.openapi import EVENTS
from antiphon.api.refusals import WITH_BODY
from antiphon.api.responses import EVENT_STREAM, as_event, end_with
from antiphon.doors.errors import ErrorsInShape
from antiphon.doors.mcp.server import server_of
from antiphon.doors.mcp.tools import Caller

PATH = "/mcp"


def _caller_of(sent: ServerRequestContext[Any, Request]) -> Caller:
    request = sent.request
    assert request is not None
    service = seen_service(request)
    return Caller(
        service,
        lambda body: begin(body, request, service, None),
        running_queries(request),
        str(request.base_url),
    )


@asynccontextmanager
async def _serving(app: FastAPI) -> AsyncIterator[None]:
    """Serves while the app does. Also answers the handshakes of older clients, but keeps no session for them."""
    # At the first signal to stop the library would break its streams off; ours end in order, like all others.
    AppStatus.enable_automatic_graceful_drain = False
    server = server_of(_caller_of)
    # The service's own guard checks the host.
    any_host = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, transport_security=any_host)
    app.state.mcp = server.session_manager
    async with app.state.mcp.run():
        yield


class _Handled(Response):
    """The library's response to a request whose body the route has read."""

    def __init__(self, request: Request, body: bytes) -> None:
        super().__init__()
        self._manager: StreamableHTTPSessionManager = request.app.state.mcp
        self._body = body
        self._read: list[Message] = [{"type": "http.request", "body": body}]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The library reads the body again, and after it waits for the client to leave.
        async def receive_again() -> Message:
            return self._read.pop() if self._read else await receive()

        # White space around a header's value is not part of it (https://www.rfc-editor.org/rfc/rfc9110#section-5.5).
        headers = [(name, value.strip()) for name, value in scope["headers"]]
        plain = {**scope, "headers": headers}
        end_with(scope, self._unanswered)
        await self._manager.handle_request(plain, receive_again, send)

    def _unanswered(self, error: ErrorBody) -> bytes:
        """Returns the last event for a request whose stream ends before its response."""
        asked = msgspec.json.decode(self._body)
        said = _in_shape(500, error) | {"id": asked.get("id")}
        return as_event("message", msgspec.json.encode(said))


def _in_shape(status: int, body: dict[str, Any]) -> dict[str, Any]:
    """Returns an error in the form of JSON-RPC, which the library's own errors already have."""
    if "jsonrpc" in body:
        return body
    told = body["error"]
    code = INTERNAL_ERROR if status >= 500 else INVALID_REQUEST
    error = {"code": code, "message": told["message"], "data": told}
    return {"jsonrpc": "2.0", "id": None, "error": error}


router = APIRouter(route_class=GuardedRoute, tags=["mcp"], lifespan=_serving)
DOOR = Door(
    router,
    partial(ErrorsInShape, below=PATH, in_shape=_in_shape),
    ("Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"),
)

_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The response, behind notifications of progress if any came.",
        "content": {JSON: {"schema": {"type": "object"}}, EVENT_STREAM: EVENTS},
    },
}


@router.post(
    PATH,
    summary="Speak MCP",
    response_class=Response,
    responses=_ANSWERS | WITH_BODY,
    dependencies=[needs("ask"), at_the_door(require_json)],
)
async def speak_mcp(request: Request) -> Response:
    """Takes a message of the Model Context Protocol (https://modelcontextprotocol.io)."""
    # Reading the body here refuses one that is too large or too slow, as every route does.
    return _Handled(request, await request.body())
