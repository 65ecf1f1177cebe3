"""What `/metrics` shows, to whom, and what of a request is counted and handed on."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from antiphon.api.telemetry import RequestTelemetry, shows_metrics
from antiphon.service import Settings
from antiphon.vocabulary.caller_trace import caller_trace
from tests.unit.api.calling import Browser, app_of
from tests.unit.api.fakes import FakeService


class CountedRequests:
    """Keeps what is counted."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, int]] = []

    def count_request(
        self, method: str, route: str, status: int, seconds: float
    ) -> None:
        assert seconds >= 0
        self.requests.append((method, route, status))

    async def scrape(self) -> str:
        return "antiphon_ready 1\n"


def watched(
    **settings: Any,
) -> tuple[Browser, FakeService, CountedRequests]:
    """A served fake with these settings, whose requests are counted."""
    service = FakeService()
    service.settings = Settings.model_construct(**settings)
    counted = CountedRequests()
    service.metrics = counted
    return Browser(app_of(service, **settings)), service, counted


@pytest.mark.parametrize(
    ("metrics", "host", "shown"),
    [
        ("auto", "127.0.0.1", True),
        ("auto", "::1", True),
        ("auto", "0.0.0.0", False),
        ("sums", "0.0.0.0", True),
        ("prometheus", "0.0.0.0", True),
        ("off", "127.0.0.1", False),
    ],
)
async def test_metrics_are_shown_on_loopback_and_elsewhere_only_where_that_was_asked_for(
    metrics: str, host: str, shown: bool
) -> None:
    browser, service, _ = watched(metrics=metrics, host=host)
    service.metrics = None

    reply = await browser.get("/metrics")

    assert shows_metrics(service.settings) == shown
    assert reply.status == (200 if shown else 403)
    if not shown:
        assert reply.error["code"] == "forbidden"


async def test_with_prometheus_all_metrics_are_shown() -> None:
    browser, _, _ = watched(metrics="prometheus")

    reply = await browser.get("/metrics")

    assert reply.body == b"antiphon_ready 1\n"


async def test_requests_are_counted_by_route_and_never_by_path() -> None:
    browser, _, counted = watched(metrics="prometheus")

    await browser.get("/api/traces/q-secret")
    await browser.get("/no/such/path")
    await browser.post("/api/query", {"query": "x"}, origin="https://evil.example")

    assert counted.requests == [
        ("GET", "/api/traces/{query_id}", 404),
        ("GET", "none", 404),
        ("POST", "none", 403),
    ]


async def test_a_callers_trace_is_handed_on_where_spans_are_made_and_long_ones_are_not() -> (
    None
):
    seen: list[object] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(caller_trace.get())

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(_: Message) -> None:
        """Takes nothing."""

    service = FakeService()
    state = type("State", (), {"service": service})()
    owner = type("App", (), {"state": state})()
    told = RequestTelemetry(app, traces=True)
    for value in ("00-abc", "x" * 601, "x" * 600, None):
        headers: list[tuple[bytes, bytes]] = []
        if value is not None:
            headers = [(b"traceparent", value.encode())]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "headers": headers,
            "app": owner,
        }
        await told(scope, receive, send)

    assert seen == [
        {"traceparent": "00-abc"},
        None,
        {"traceparent": "x" * 600},
        None,
    ]
