"""Telemetry of requests: decides if `/metrics` answers, counts each request, and continues the caller's trace."""

from __future__ import annotations

import time
from typing import Protocol

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from antiphon.api.noted_status import NotedStatus
from antiphon.service import Settings, is_loopback
from antiphon.vocabulary.caller_trace import TRACE_HEADERS, caller_trace

UNKNOWN_ROUTE = "none"
"""The label of requests that no route takes: callers invent their paths, which would make endless labels."""
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_MOST_HEADER_CHARS = 600
"""More than both headers may have (https://www.w3.org/TR/trace-context/#tracestate-limits)."""


class Metrics(Protocol):
    """Counts for Prometheus; satisfied by `telemetry.Metrics`."""

    def count_request(
        self, method: str, route: str, status: int, seconds: float
    ) -> None: ...

    async def scrape(self) -> str: ...


def shows_metrics(settings: Settings) -> bool:
    """Returns True if `/metrics` answers: on a network address only if the settings ask for it."""
    if settings.metrics == "auto":
        return is_loopback(settings.host)
    return settings.metrics != "off"


class RequestTelemetry:
    """Passes the caller's trace on to the query that a request begins, and counts the request."""

    def __init__(self, app: ASGIApp, *, traces: bool) -> None:
        self._app = app
        self._traces = traces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._traces:
            _note_caller_trace(scope)
        metrics: Metrics | None = scope["app"].state.service.metrics
        if metrics is None:
            await self._app(scope, receive, send)
            return
        noted = NotedStatus(send)

        began = time.perf_counter()
        try:
            await self._app(scope, receive, noted)
        finally:
            seconds = time.perf_counter() - began
            metrics.count_request(_method(scope), _route(scope), noted.status, seconds)


def _note_caller_trace(scope: Scope) -> None:
    headers = Headers(scope=scope)
    found: dict[str, str] = {}
    for name in TRACE_HEADERS:
        value = headers.get(name)
        if value is not None and len(value) <= _MOST_HEADER_CHARS:
            found[name] = value
    # Also set without such headers: a server may handle the next request of a connection in the same context.
    caller_trace.set(found or None)


def _method(scope: Scope) -> str:
    """Returns the method, or `other`: a caller may send any word as one."""
    return str(scope["method"]) if scope["method"] in _METHODS else "other"


def _route(scope: Scope) -> str:
    """Returns the route's own path: the requested one would make a label for every single trace."""
    route = scope.get("route")
    return str(getattr(route, "path", UNKNOWN_ROUTE))
