"""Guards before the routes: the names and pages that the service may be called by, and plain paths and methods."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.errors import refuse
from antiphon.service import Settings, is_loopback

READING = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""
_OF_PROXIES = ("forwarded", "x-real-ip")
"""Headers by which proxies say for whom they ask, beside those that begin with `x-forwarded-`."""
_DEFAULT_PORTS = {"http": 80, "https": 443}


class CallerGuard:
    """Refuses requests whose Host or Origin names another machine or another site.

    A web page anywhere can rebind its own name to this machine's address: only the Host header tells. And it can send
    some requests here without being asked for leave: the Origin header tells.

    Args:
        allowed: The names by which the service goes; None is any.
        pages: Further names whose pages may change something here: those that the owner has named.
    """

    def __init__(
        self, app: ASGIApp, allowed: frozenset[str] | None, pages: frozenset[str]
    ) -> None:
        self._app = app
        self._allowed = allowed
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
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
                "add that site's name to ANTIPHON_ALLOWED_HOSTS if it is yours."
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
        if origin is None:
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
    """Returns a path without slashes at its end; that of the service as a whole with one, where the first page is."""
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
