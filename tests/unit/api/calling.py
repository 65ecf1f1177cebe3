"""Apps over a service of a test, and a caller of an ASGI app that needs no server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from fastapi import FastAPI

from antiphon.api import InterceptorOf
from antiphon.api.dependencies import ServiceOpener
from antiphon.service import Antiphon, Settings
from antiphon.vocabulary.access import OWNER
from antiphon.vocabulary.catalog import BUILT_IN
from tests.apps import APPS, new_app
from tests.unit.api.fakes import FakeService

_IN_USE: list[tuple[Settings, FastAPI]] = []


def app_of(
    service: FakeService, interceptor_of: InterceptorOf | None = None, **settings: Any
) -> FastAPI:
    """The app over `service`, open; settings are the defaults but for those given.

    Within a test each is a new one. At the test's end they are free for others.
    """
    chosen = Settings.model_construct(**settings)
    app = APPS.take(chosen, _opening(service), interceptor_of)
    app.state.service = service
    _IN_USE.append((chosen, app))
    return app


def new_app_of(service: FakeService) -> FastAPI:
    """The same, for a test that changes the app itself."""
    app = new_app(Settings.model_construct(), None)
    app.state.open_service = _opening(service)
    app.state.service = service
    return app


def give_back_apps() -> None:
    """Ends a test. An app whose schema may be that of an unusual service is not used again."""
    for settings, app in _IN_USE:
        service: FakeService = app.state.service
        if service.catalog is BUILT_IN and service.principal is OWNER:
            APPS.give_back(settings, app)
    _IN_USE.clear()


def _opening(service: FakeService) -> ServiceOpener:
    async def opened(_: Settings) -> Antiphon:
        return cast(Antiphon, service)

    return opened


@dataclass
class Reply:
    """What an app sent, as it comes."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    arrived: asyncio.Event = field(default_factory=asyncio.Event)

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, str]:
        """The error in its one shape."""
        body = self.json()
        assert list(body) == ["error"]
        error: dict[str, str] = body["error"]
        assert {"code", "message"} <= set(error) <= {"code", "message", "query_id"}
        return error


class Browser:
    """Calls an app as a server would; `leave` hangs up on the call under way."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self._app = app
        self._left = asyncio.Event()
        self.reply = Reply()

    def leave(self) -> None:
        """Hangs up."""
        self._left.set()

    async def get(self, path: str, **headers: str) -> Reply:
        return await self.call("GET", path, (), headers)

    async def post(self, path: str, body: object, **headers: str) -> Reply:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.call(
            "POST", path, (sent,), {"content_type": "application/json"} | headers
        )

    async def call(
        self, method: str, path: str, body: Sequence[bytes], headers: dict[str, str]
    ) -> Reply:
        """One request; header names have `_` for `-`, and an empty value leaves one out."""
        pieces = list(body) or [b""]
        sent = {"host": "localhost:8000"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [
                (name.encode(), value.encode()) for name, value in sent.items() if value
            ],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }

        async def receive() -> dict[str, object]:
            if pieces:
                piece = pieces.pop(0)
                return {
                    "type": "http.request",
                    "body": piece,
                    "more_body": bool(pieces),
                }
            await self._left.wait()
            return {"type": "http.disconnect"}

        await self._app(scope, receive, self._send)
        return self.reply

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.reply.status = message["status"]
            self.reply.headers = {
                name.decode(): value.decode() for name, value in message["headers"]
            }
        else:
            self.reply.body += message.get("body", b"")
            self.reply.arrived.set()


def events_in(body: bytes) -> list[tuple[str, str | None, Any]]:
    """Each server-sent event as its kind, its id and its data."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(
            line.split(": ", 1)
            for line in block.splitlines()
            if not line.startswith(":")
        )
        if lines:
            found.append((lines["event"], lines.get("id"), json.loads(lines["data"])))
    return found
