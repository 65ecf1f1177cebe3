"""Guards before the routes: allowed host names, size and type of a body, safe headers; and the access log."""

from __future__ import annotations

import ipaddress
import time
from typing import Annotated

import structlog
from fastapi import Header
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.errors import Refusal, refuse
from antiphon.service import Settings

log = structlog.get_logger("api.access")


class HostGuard:
    """Refuses requests whose Host names another machine, so that a web page cannot rebind its name to us."""

    def __init__(self, app: ASGIApp, allowed: frozenset[str] | None) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._allows(scope):
            await self._app(scope, receive, send)
            return
        message = (
            "This service was called by a name that it does not go by: "
            "call it as 127.0.0.1 or localhost, or add the name to ANTIPHON_ALLOWED_HOSTS."
        )
        await refuse(400, "foreign_host", message)(scope, receive, send)

    def _allows(self, scope: Scope) -> bool:
        if self._allowed is None or scope["type"] != "http":
            return True
        host = Headers(scope=scope).get("host")
        return host is None or host_name(host) in self._allowed


def hosts_for(settings: Settings) -> frozenset[str] | None:
    """Returns the names by which the service may be called; None is any.

    A service of this machine only goes by the names that the settings allow. One that is bound to the network goes
    by any, unless the settings name some.
    """
    named = {settings.host.lower()}
    for name in settings.allowed_hosts.split(","):
        if name.strip():
            named.add(name.strip().lower())
    if "*" in named:
        return None
    # On a network address nobody knows by which names it is reached, unless the owner has named some.
    is_chosen = "allowed_hosts" in settings.model_fields_set
    if not is_chosen and not is_loopback(settings.host):
        return None
    return frozenset(named)


def is_loopback(host: str) -> bool:
    """Returns True if `host` is this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(host: str) -> str:
    """Returns a Host header's value in lower case, without its port."""
    whole = host.strip().lower()
    # An IPv6 address holds colons too, in brackets: only digits after the last one are a port.
    name, colon, port = whole.rpartition(":")
    if colon and port.isdigit():
        return name
    return whole


class BodyLimit:
    """Refuses a body that is too large: at once where its length is declared, else while it is read.

    FastAPI's `max_body_size` does the same, but answers a declared length in plain text, past our error handlers.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and self._is_too_large(
            Headers(scope=scope).get("content-length", "")
        ):
            await self._refusal().as_response()(scope, receive, send)
            return
        await self._app(scope, self._counting(receive), send)

    def _is_too_large(self, declared: str) -> bool:
        # Cut, for Python refuses to read a number of thousands of digits.
        return declared.isdecimal() and int(declared[:20]) > self._max_bytes

    def _counting(self, receive: Receive) -> Receive:
        total = 0

        async def counted() -> Message:
            nonlocal total
            message = await receive()
            total += len(message.get("body", b""))
            if total > self._max_bytes:
                raise self._refusal()
            return message

        return counted

    def _refusal(self) -> Refusal:
        return Refusal(
            413,
            "body_too_large",
            f"The body has more than {self._max_bytes:,} bytes: send less.",
        )


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
            await send(message)

        await self._app(scope, receive, send_with_headers)


class AccessLog:
    """Logs method, path, status, time and query_id of each request once it is over; never what was asked."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500  # where the app raises before it answers

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        # Until the last byte: the time of a stream is the time of its query.
        began = time.perf_counter()
        try:
            await self._app(scope, receive, send_and_note)
        finally:
            log.info(
                "request",
                method=scope["method"],
                path=scope["path"],
                status=status,
                ms=round((time.perf_counter() - began) * 1000, 1),
                query_id=scope.get("state", {}).get("query_id"),
            )


async def require_json(
    content_type: Annotated[str, Header(include_in_schema=False)] = "",
) -> None:
    """Refuses a body that is not declared as JSON: a page of another site cannot send such a one unasked.

    Raises:
        Refusal: 415.
    """
    if content_type.partition(";")[0].strip().lower() != "application/json":
        found = "none"
        if content_type:
            found = "another one"
        raise Refusal(
            415,
            "not_json",
            f"The body must have Content-Type: application/json, {found} was found.",
        )
