"""Guards before the routes: they check by which name and from which page a request comes, and normalise its path."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.errors import refuse
from antiphon.service import Settings, is_loopback

READING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
_OF_PROXIES = ("forwarded", "x-real-ip")
"""Headers in which proxies name the caller, besides those that begin with `x-forwarded-`."""
_ONCE = frozenset(
    {
        b"host",
        b"origin",
        b"authorization",
        b"x-api-key",
        b"content-type",
        b"content-length",
        b"idempotency-key",
        b"last-event-id",
    }
)
"""Headers that identify the caller and the request. If there were two, a proxy in front might use the other one."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


class CallerGuard:
    """Refuses requests whose Host or Origin names another machine or site, or that repeat a header which decides.

    A web page anywhere can rebind its own name to this machine's address, which only the Host header reveals. It can
    also send some requests here without the browser asking this service first, which only the Origin header reveals.

    Args:
        allowed: The names of the service; None: any.
        pages: Further names whose pages may change something here, because the owner has named them.
        origins: The same for whole origins, whose pages may also read the replies.
    """

    def __init__(
        self,
        app: ASGIApp,
        allowed: frozenset[str] | None,
        pages: frozenset[str],
        origins: frozenset[str],
    ) -> None:
        self._app = app
        self._allowed = allowed
        self._pages = pages
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        repeated = _repeated(scope)
        if repeated is not None:
            message = f"The header `{repeated}` came more than once: send it once."
            await refuse(400, "repeated_header", message)(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host = headers.get("host")
        if not self._allows_host(host):
            message = (
                "This service was called by a name that it does not go by: "
                "call it as 127.0.0.1 or localhost, or add the name to ANTIPHON_ALLOWED_HOSTS."
            )
            await refuse(400, "foreign_host", message)(scope, receive, send)
            return
        if scope["method"] not in READING and not self._allows_origin(
            headers.get("origin"), host
        ):
            message = (
                "A page of another site may change nothing here: "
                "name that site in ANTIPHON_ALLOWED_ORIGINS if it is yours."
            )
            await refuse(403, "foreign_origin", message)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _allows_host(self, host: str | None) -> bool:
        # Every browser sends a Host header; only programs leave it out.
        if self._allowed is None or host is None:
            return True
        return host_name(host) in self._allowed

    def _allows_origin(self, origin: str | None, host: str | None) -> bool:
        if origin is None or origin in self._origins:
            return True
        try:
            site = urlsplit(origin)
            port = site.port or _DEFAULT_PORTS.get(site.scheme)
        except ValueError:
            return False
        if site.hostname is None or site.scheme not in _DEFAULT_PORTS:
            return False
        name = host_name(site.netloc)
        if name in self._pages:
            return True
        if host is None:
            return False
        # Behind a proxy the request may have another scheme than the page, so a Host without a port matches any port.
        return (name, port) == (host_name(host), _port_of(host) or port)


def _repeated(scope: Scope) -> str | None:
    """Returns a header that was repeated and must not be; None if there is none."""
    seen: set[bytes] = set()
    for name, _ in scope["headers"]:
        if name in seen and name in _ONCE:
            return str(name.decode())
        seen.add(name)
    return None


def hosts_for(settings: Settings) -> frozenset[str] | None:
    """Returns the names by which callers may address the service; None: any.

    Unless the settings name some, these are only this machine's own names, even on a network address: the owner must
    say by which names others may reach it.
    """
    named = named_hosts(settings)
    if "*" in named:
        return None
    return named | {settings.host.lower(), f"[{settings.host.lower()}]"}


def named_hosts(settings: Settings) -> frozenset[str]:
    """Returns the names that the settings hold, in lower case."""
    names = settings.allowed_hosts.lower().split(",")
    return frozenset(map(str.strip, names)) - {""}


def offered_to(
    origins: frozenset[str], headers: Sequence[str] = ()
) -> Callable[[ASGIApp], ASGIApp]:
    """Returns a wrapper that lets pages of these origins call an app and read its replies; without origins, none.

    Their scripts send a key as a header, and the service uses no cookies, so browsers need not send credentials.

    Args:
        headers: Request headers of doors, besides the API's own.
    """
    if not origins:
        return _as_it_is
    return partial(
        CORSMiddleware,
        allow_origins=origins,
        allow_methods=("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"),
        allow_headers=(
            "Authorization",
            "X-API-Key",
            "Idempotency-Key",
            "Last-Event-ID",
            "Traceparent",
            *headers,
        ),
        expose_headers=(
            "Location",
            "Retry-After",
            "WWW-Authenticate",
            "Content-Disposition",
        ),
        # Pages that the owner has named may also call a service on the reader's own machine or network.
        allow_private_network=True,
    )


def _as_it_is(app: ASGIApp) -> ASGIApp:
    return app


def pages_for(settings: Settings) -> frozenset[str]:
    """Returns the sites, besides the service's own, whose pages may change something here: those in the settings."""
    if "allowed_hosts" not in settings.model_fields_set:
        return frozenset()
    return frozenset(name for name in named_hosts(settings) if not is_loopback(name))


def is_from_here(headers: Headers) -> bool:
    """Returns True if a request calls this machine by its own name, and no proxy says that it passed it on.

    A proxy that does not identify itself, and calls the service as 127.0.0.1, looks like a program on this machine.
    """
    host = headers.get("host")
    if host is not None and not is_loopback(host_name(host)):
        return False
    return not any(
        name in _OF_PROXIES or name.startswith("x-forwarded-") for name in headers
    )


def host_name(host: str) -> str:
    """Returns a Host header's value in lower case, without its port."""
    whole = host.strip().lower()
    # An IPv6 address holds colons too, in brackets: only digits after the last one are a port.
    name, colon, port = whole.rpartition(":")
    return name if colon and port.isdigit() else whole


def _port_of(host: str) -> int | None:
    _, colon, port = host.strip().rpartition(":")
    if colon and port.isdecimal() and len(port) <= len("65535"):
        return int(port)
    return None


def _plain_path(path: str, root_path: str) -> str:
    """Returns a path without slashes at its end; only the first page, the root path itself, keeps one."""
    plain = path.rstrip("/") or "/"
    return f"{root_path}/" if plain == root_path else plain


class PlainRequests:
    """Serves a path with a slash at its end like the one without, and HEAD like GET without the body.

    A redirect instead would reveal the name of the machine behind a proxy, and turn a POST into a GET.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Made before the copies below, which share it: so the access log finds there what the routes note.
        scope.setdefault("state", {})
        scope = {
            **scope,
            "path": _plain_path(scope["path"], scope.get("root_path", "")),
        }
        if scope["method"] == "HEAD":
            await self._head({**scope, "method": "GET"}, receive, send)
            return
        await self._app(scope, receive, send)

    async def _head(self, scope: Scope, receive: Receive, send: Send) -> None:
        answered = asyncio.Event()

        async def send_head(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                await send({"type": "http.response.body", "body": b""})
                answered.set()

        # The head is the whole reply: a GET that would stream events is cancelled after it.
        work = asyncio.ensure_future(self._app(scope, receive, send_head))
        told = asyncio.ensure_future(answered.wait())
        await asyncio.wait({work, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if answered.is_set():
            work.cancel()
        await asyncio.gather(work, return_exceptions=answered.is_set())
