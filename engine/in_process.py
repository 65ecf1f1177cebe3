"""Streaming HTTP to an ASGI application in the same process: the client can read each part as soon as it is sent.

`httpx2.ASGITransport` would hold back a stream until it is complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any, NoReturn

import httpx2

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


RESET = "antiphon.reset"
"""The extension of a scope with a function (under `now`) that breaks the connection, as on the port of a double."""


def reset(scope: Scope) -> NoReturn:
    """Breaks the connection of a request under way.

    Raises:
        ConnectionResetError: Always, so that nothing more is sent; in one process this is what breaks the connection.
    """
    extensions = scope.get("extensions") or {}
    if RESET in extensions:
        extensions[RESET]["now"]()
    raise ConnectionResetError("the connection is reset on purpose")


class InProcessTransport(httpx2.AsyncBaseTransport):
    """Takes the SDK's requests to `app`. An `OSError` in the app means a broken connection."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        exchange = _Exchange(
            await request.aread(), request.extensions.get("timeout", {}).get("read")
        )
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": request.url.scheme,
            "path": request.url.path,
            "raw_path": request.url.raw_path.partition(b"?")[0],
            "query_string": request.url.query,
            "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw],
        }
        exchange.run(self._app(scope, exchange.receive, exchange.send))
        try:
            await exchange.wait_for(lambda: exchange.status is not None)
        except BaseException:
            await exchange.aclose()
            raise
        if exchange.status is None:
            raise httpx2.RemoteProtocolError(
                "the application ended without an answer", request=request
            )
        return httpx2.Response(
            exchange.status, headers=exchange.headers, stream=exchange, request=request
        )


class _Exchange(httpx2.AsyncByteStream):
    """One request and its answer, between the client's task and the app's."""

    def __init__(self, body: bytes, read_timeout_s: float | None) -> None:
        self.status: int | None = None
        self.headers: list[tuple[bytes, bytes]] = []
        self._request_body: bytes | None = body
        self._read_timeout_s = read_timeout_s
        self._sent: list[bytes] = []
        self._complete = False
        self._news = asyncio.Event()
        self._task: asyncio.Future[None] | None = None

    def run(self, app: Awaitable[None]) -> None:
        self._task = asyncio.ensure_future(app)
        self._task.add_done_callback(lambda _: self._news.set())

    async def receive(self) -> Scope:
        if self._request_body is None:
            # A second receive waits for the client to leave, which instead cancels this task.
            await asyncio.Future()
        body, self._request_body = self._request_body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Scope) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = list(message.get("headers", ()))
        else:
            self._sent.append(message.get("body", b""))
            self._complete = not message.get("more_body", False)
        self._news.set()

    async def wait_for(self, there: Callable[[], bool]) -> None:
        """Waits until `there` or until the app has ended; raises the app's exception."""
        while not there():
            if self._task is None or self._task.done():
                self._raise_failure()
                return
            # Cleared in the same step as the check of `there`, so that no news is lost in between.
            self._news.clear()
            try:
                async with asyncio.timeout(self._read_timeout_s):
                    await self._news.wait()
            except TimeoutError as error:
                raise httpx2.ReadTimeout(
                    "the application sent nothing in time"
                ) from error

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            await self.wait_for(lambda: bool(self._sent) or self._complete)
            if not self._sent:
                return
            chunk, self._sent = b"".join(self._sent), []
            if chunk:
                yield chunk

    async def aclose(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        self._task = None

    def _raise_failure(self) -> None:
        if self._task is None or self._task.cancelled():
            return
        error = self._task.exception()
        if isinstance(error, OSError):
            raise httpx2.ReadError(str(error)) from error
        if error is not None:
            raise error
