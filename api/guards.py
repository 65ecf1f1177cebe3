"""Guards before the routes: the names and pages that the service may be called by, and plain paths and methods."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
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
"""Headers by which proxies say for whom they ask, beside those that begin with `x-forwarded-`."""
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
"""Headers that decide who is let in, and what a request is. Of two, a proxy in front may take the other one."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


class CallerGuard:
    """Refuses requests whose Host or Origin names another machine or another site, or that say who sends them twice.

    A web page anywhere can rebind its own name to this machine's address: only the Host header tells. And it can send
    some requests here without being asked for leave: the Origin header tells.

    Args:
        allowed: The names by which the service goes; None is any.
        pages: Further names whose pages may change something here: those that the owner has named.
        origins: The same for whole origins, whose pages may read the replies too.
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
        # Only programs leave it out: every browser sends it.
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
        # Behind a proxy the scheme of the request is not that of the page, so that a missing port is the page's own.
        return (name, port) == (host_name(host), _port_of(host) or port)


def _repeated(scope: Scope) -> str | None:
    """Returns a header that came more than once and must not; None if there is none."""
    seen: set[bytes] = set()
    for name, _ in scope["headers"]:
        if name in seen and name in _ONCE:
            return str(name.decode())
        seen.add(name)
    return None


def hosts_for(settings: Settings) -> frozenset[str] | None:
    """Returns the names by which the service may be called; None is any.

    Unless the settings name some, that are this machine's own, on a network address too: by which names others may
    reach it is for its owner to say.
    """
    named = named_hosts(settings)
    if "*" in named:
        return None
    return named | {settings.host.lower(), f"[{settings.host.lower()}]"}


def named_hosts(settings: Settings) -> frozenset[str]:
    """Returns the names that the settings hold, in lower case."""
    names = settings.allowed_hosts.lower().split(",")
    return frozenset(map(str.strip, names)) - {""}


def offered_to(origins: frozenset[str]) -> Callable[[ASGIApp], ASGIApp]:
    """Returns what lets pages of these origins call an app and read what it replies; without any, the app itself.

    Their scripts send a key as a header, and no cookie is known here: so the browser is not asked for credentials.
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
        ),
        expose_headers=(
            "Location",
            "Retry-After",
            "WWW-Authenticate",
            "Content-Disposition",
        ),
        # Named pages may call a service on the reader's own machine or network.
        allow_private_network=True,
    )


def _as_it_is(app: ASGIApp) -> ASGIApp:
    return app


def pages_for(settings: Settings) -> frozenset[str]:
    """Returns the sites whose pages may change something here beside the service's own: none that nobody has named."""
    if "allowed_hosts" not in settings.model_fields_set:
        return frozenset()
    return frozenset(name for name in named_hosts(settings) if not is_loopback(name))


def is_from_here(headers: Headers) -> bool:
    """Returns True if a request calls this machine by its own name, and no proxy says that it passed it on.

    A proxy that says nothing of itself, and calls the service as 127.0.0.1, cannot be told from a program here.
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
    """Returns a path without slashes at its end; that of the service as a whole with one, if the first page is."""
    plain = path.rstrip("/") or "/"
    return f"{root_path}/" if plain == root_path else plain


class PlainRequests:
    """Serves a path with a slash at its end as the one without, and HEAD as GET without the body.

    A redirect would name the machine behind a proxy, and turn a POST into a GET.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Shared with the copies below: whoever logs the request finds there what the routes note.
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

        # With its head everything is said, so that a stream of events ends here.
        work = asyncio.ensure_future(self._app(scope, receive, send_head))
        told = asyncio.ensure_future(answered.wait())
        await asyncio.wait({work, told}, return_when=asyncio.FIRST_COMPLETED)
        told.cancel()
        if answered.is_set():
            work.cancel()
        await asyncio.gather(work, return_exceptions=answered.is_set())
