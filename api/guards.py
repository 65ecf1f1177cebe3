"""What stands before the routes: who may call by which name, how large a body may be, what a body must be."""

from __future__ import annotations

import ipaddress
from typing import Annotated

from fastapi import Header
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.errors import Refusal, refuse
from antiphon.service import Settings


class HostGuard:
    """Refuses requests whose Host names another machine, so that a web page cannot rebind its name to us."""

    def __init__(self, app: ASGIApp, allowed: frozenset[str] | None) -> None:
        self._app = app
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        host = Headers(scope=scope).get("host") if scope["type"] == "http" else None
        if host is None or self._allowed is None or host_name(host) in self._allowed:
            await self._app(scope, receive, send)
            return
        message = (
            "This service was called by a name that it does not go by: "
            "call it as 127.0.0.1 or localhost, or add the name to ANTIPHON_ALLOWED_HOSTS."
        )
        await refuse(400, "foreign_host", message)(scope, receive, send)


def hosts_for(settings: Settings) -> frozenset[str] | None:
    """The names by which the service may be called; None is any.

    A service of this machine only goes by the names that the settings allow. One that is bound to the network goes
    by any, unless the settings name some.
    """
    named = frozenset(name.strip().lower() for name in settings.allowed_hosts.split(",") if name.strip())
    chosen = "allowed_hosts" in settings.model_fields_set
    if "*" in named or not (chosen or is_loopback(settings.host)):
        return None
    return named | {settings.host.lower()}


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_name(host: str) -> str:
    """A Host header's value in lower case, without its port."""
    name, colon, port = host.strip().lower().rpartition(":")
    return name if colon and port.isdigit() else host.strip().lower()


class BodyLimit:
    """Refuses a body that is too large: at once where its length is declared, else while it is read."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = Headers(scope=scope).get("content-length", "0") if scope["type"] == "http" else "0"
        if declared.isdecimal() and int(declared[:20]) > self._max_bytes:
            await self._refusal().as_response()(scope, receive, send)
            return
        await self._app(scope, self._counting(receive), send)

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
        return Refusal(413, "body_too_large", f"The body has more than {self._max_bytes:,} bytes: send less.")


class SafeHeaders:
    """Adds the headers that keep a browser from guessing what an answer is."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["X-Content-Type-Options"] = "nosniff"
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, adding if scope["type"] == "http" else send)


async def require_json(content_type: Annotated[str, Header(include_in_schema=False)] = "") -> None:
    """Refuses a body that is not declared as JSON: a page of another site cannot send such a one unasked.

    Raises:
        Refusal: 415.
    """
    if content_type.partition(";")[0].strip().lower() != "application/json":
        found = "none" if not content_type else "another one"
        raise Refusal(415, "not_json", f"The body must have Content-Type: application/json, {found} was found.")
