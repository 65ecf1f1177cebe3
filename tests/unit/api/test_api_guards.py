"""Who may call the service, how fast a body must come, and what the schema says of it all."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from antiphon.api import connections
from antiphon.api.bodies import BodyLimit
from antiphon.api.errors import Refusal
from antiphon.vocabulary.catalog import BUILT_IN
from tests.unit.api.calling import Browser, app_of, events_in
from tests.unit.api.fakes import FakeService

QUERY = "/api/query"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("", 200),
        ("http://localhost:8000", 200),
        ("https://localhost:8000", 200),
        ("http://localhost:3000", 403),
        ("http://127.0.0.1:8000", 403),
        ("https://evil.example", 403),
        ("http://localhost.evil.example:8000", 403),
        ("null", 403),
        ("file://", 403),
        ("http://[", 403),
        ("chrome-extension://abc", 403),
    ],
)
async def test_only_the_services_own_pages_may_change_something(
    origin: str, status: int
) -> None:
    reply = await Browser(app_of(FakeService())).post(
        QUERY, {"query": "x"}, origin=origin
    )

    assert reply.status == status
    if status == 403:
        assert reply.error["code"] == "foreign_origin"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/traces/q-1/replay"),
        ("POST", "/api/traces/q-1/resume"),
        ("POST", "/api/queries/q-1/cancel"),
        ("DELETE", "/api/traces/q-1"),
        ("DELETE", "/api/conversations/s-new"),
    ],
)
async def test_a_request_without_a_body_is_asked_for_its_origin_too(
    method: str, path: str
) -> None:
    service = FakeService()
    await Browser(app_of(service)).post(QUERY, {"query": "x"})

    reply = await Browser(app_of(service)).call(
        method, path, (), {"origin": "https://evil.example"}
    )

    assert (reply.status, reply.error["code"]) == (403, "foreign_origin")
    assert service.archive.deleted == []


async def test_a_site_that_the_owner_has_named_may_change_something() -> None:
    app = app_of(FakeService(), allowed_hosts="localhost,app.example")

    named = await Browser(app).post(
        QUERY, {"query": "x"}, origin="https://app.example:8443"
    )
    local = await Browser(app).post(
        QUERY, {"query": "x"}, origin="http://localhost:3000"
    )

    assert (named.status, local.status) == (200, 403)


@pytest.mark.parametrize("host", ["app.example", "app.example:443"])
async def test_behind_a_proxy_a_page_of_the_same_name_is_the_services_own(
    host: str,
) -> None:
    app = app_of(FakeService(), allowed_hosts="*")

    reply = await Browser(app).post(
        QUERY, {"query": "x"}, host=host, origin="https://app.example"
    )

    assert reply.status == 200


async def test_reading_is_not_asked_for_its_origin() -> None:
    reply = await Browser(app_of(FakeService())).get(
        "/healthz", origin="https://evil.example"
    )

    assert reply.status == 200


async def test_no_page_of_another_site_is_let_read_anything() -> None:
    reply = await Browser(app_of(FakeService())).get(
        "/healthz", origin="https://evil.example"
    )

    allowed = [name for name in reply.headers if name.startswith("access-control-")]
    assert allowed == []
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert reply.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["more_body"]:
            pass

    async def receive() -> dict[str, Any]:
        if not pieces:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": pieces.pop(), "more_body": True}

    pieces = [b"{"]
    limit = BodyLimit(read_all, max_bytes=100, larger={}, within_s=0.01)

    with pytest.raises(Refusal) as refused:
        await limit({"type": "http", "path": "/", "headers": []}, receive, _sent)

    assert (refused.value.status_code, refused.value.code) == (408, "body_too_slow")


async def _sent(_: Any) -> None:
    pass


async def _ok(_: Scope, __: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost:",
    ],
)
async def test_the_head_of_a_request_must_come_in_time(
    sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.05)
    config = uvicorn.Config(_ok, lifespan="off", timeout_keep_alive=1)
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: connections.BoundedHttp(
            config=config, server_state=state, app_state={}, most=10
        ),
        "127.0.0.1",
    )
    port = server.sockets[0].getsockname()[1]

    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    received = await reader.read()

    assert received.count(b"200 OK") == sent.count(b"\r\n\r\n")
    writer.close()
    server.close()


async def test_a_query_with_a_key_goes_on_where_its_client_goes_away() -> None:
    service = FakeService(held=True)
    browser = Browser(app := app_of(service))
    browser.leave()
    call = asyncio.create_task(browser.post(QUERY, {"query": "x"}, idempotency_key="k"))
    await service.began.wait()
    service.asked[0].release()
    await call

    again = await Browser(app).post(QUERY, {"query": "x"}, idempotency_key="k")

    assert service.asked[0].cancelled == []
    assert (again.status, len(service.asked)) == (200, 1)


def _schema() -> dict[str, Any]:
    return app_of(FakeService()).openapi()


def test_every_operation_has_a_readable_name_of_its_own() -> None:
    names = [
        operation["operationId"]
        for methods in _schema()["paths"].values()
        for operation in methods.values()
    ]

    assert len(set(names)) == len(names) > 20
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)


def test_events_are_typed_and_every_reference_leads_somewhere() -> None:
    schema = _schema()
    schemas = schema["components"]["schemas"]

    referred = set(
        re.findall(r"#/components/schemas/([^\"]+)", str(schema).replace("'", '"'))
    )
    item = schemas["TraceReply"]["properties"]["events"]["items"]
    kinds = schemas["RecordedEvent"]["properties"]["event"]["discriminator"]["mapping"]

    assert referred <= set(schemas)
    assert item == {"$ref": "#/components/schemas/RecordedEvent"}
    assert set(kinds) == set(BUILT_IN.by_kind)


def test_the_statuses_of_a_strict_question_are_declared() -> None:
    responses = _schema()["paths"][QUERY]["post"]["responses"]

    for status in ("502", "504"):
        schema = responses[status]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/QueryAnswer"}


async def test_what_a_stream_sends_is_what_its_schema_says() -> None:
    stream = await Browser(app_of(FakeService())).post(
        QUERY, {"query": "x"}, accept="text/event-stream"
    )
    schema = _schema()
    content = schema["paths"][QUERY]["post"]["responses"]["200"]["content"]
    items = content["text/event-stream"]["schema"]["contentSchema"]["items"]
    item = schema["components"]["schemas"]["ServerSentEvent"]

    assert items == {"$ref": "#/components/schemas/ServerSentEvent"}
    assert set(item["required"]) == {"event", "data"}
    for kind, number, data in events_in(stream.body):
        assert isinstance(kind, str)
        assert isinstance(data, dict)
        assert (number is None) == ("seq" not in data)
    assert msgspec.json.encode(item)
