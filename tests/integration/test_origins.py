"""Pages of other origins: which may call the service and read its replies, over real HTTP as a browser asks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from antiphon.service import load_settings
from antiphon.vocabulary.errors import ConfigurationError
from tests.tenants import QUESTION, Site, site

APP = "https://app.example"
OFFERED = "access-control-allow-origin"
SSE = {"accept": "text/event-stream"}


async def _preflight(
    client: httpx2.AsyncClient, path: str, method: str, headers: str
) -> httpx2.Response:
    asked = {
        "access-control-request-method": method,
        "access-control-request-headers": headers,
    }
    return await client.request("OPTIONS", path, headers=asked)


async def test_without_the_setting_no_page_is_offered_anything(tmp_path: Path) -> None:
    async with site(tmp_path, allowed_hosts="127.0.0.1,app.example") as at:
        client = at.client(at.key("acme"), origin=APP)
        asked = await _preflight(client, "/api/query", "POST", "authorization")
        read = await client.get("/api/courses")

    # Nothing answers a preflight without the setting: OPTIONS is a method that the route lacks.
    assert asked.status_code == 405
    assert OFFERED not in asked.headers
    assert OFFERED not in read.headers


async def test_a_named_origins_page_asks_follows_and_reads_with_its_key(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, allowed_origins=f"{APP}, http://127.0.0.1:5173") as at:
        client = at.client(at.key("acme"), origin=APP)
        allowed = [
            await _preflight(client, path, method, headers)
            for path, method, headers in (
                (
                    "/api/query",
                    "POST",
                    "authorization,content-type,idempotency-key",
                ),
                ("/api/queries/x/events", "GET", "x-api-key, last-event-id"),
                ("/api/traces/x", "DELETE", "authorization"),
            )
        ]
        asked = await client.post("/api/query", json=QUESTION)
        later = await client.post("/api/queries", json=QUESTION)
        async with client.stream(
            "GET", f"{later.headers['location']}/events", headers=SSE
        ) as stream:
            await stream.aread()
        other = await at.client(origin="http://127.0.0.1:5173").get("/healthz")

    for reply in allowed:
        assert reply.status_code == 200
        assert reply.headers[OFFERED] == APP
        assert "Origin" in reply.headers["vary"]
    for reply in (asked, later, stream):
        assert reply.is_success
        assert reply.headers[OFFERED] == APP
        assert "Origin" in reply.headers["vary"]
        assert "access-control-allow-credentials" not in reply.headers
    exposed = later.headers["access-control-expose-headers"]
    assert {"Location", "Retry-After"} <= set(exposed.split(", "))
    assert other.headers[OFFERED] == "http://127.0.0.1:5173"


async def _refusals(at: Site) -> dict[int, httpx2.Response]:
    """Returns one refusal of each kind, as a page of a named origin gets them."""
    client = at.client(at.key("acme"), origin=APP)
    poor = at.client(at.key("acme", requests=0), origin=APP)
    asking = at.client(at.key("acme", "ask"), origin=APP)
    large = b'{"query": "' + b"x" * 1_100_000 + b'"}'
    replies = [
        await client.post("/api/query", json=QUESTION, headers={"host": "evil.test"}),
        await at.client(origin=APP).get("/api/courses"),
        await asking.get("/api/traces"),
        await client.get("/api/traces/nothing"),
        await client.put("/api/query"),
        await client.post(
            "/api/query", content=large, headers={"content-type": "application/json"}
        ),
        await client.post("/api/query", json={}),
        await poor.post("/api/query", json=QUESTION),
        await client.get("/api/courses"),
    ]
    return {reply.status_code: reply for reply in replies}


async def test_refusals_and_bugs_can_be_read_by_a_named_origins_page_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with site(tmp_path, allowed_origins=APP) as at:

        def broken() -> None:
            raise RuntimeError("a bug")

        monkeypatch.setattr(at.house.resources.library, "courses", broken)
        replies = await _refusals(at)

    assert sorted(replies) == [400, 401, 403, 404, 405, 413, 422, 429, 500]
    for reply in replies.values():
        assert reply.headers[OFFERED] == APP, reply.status_code
        assert "error" in reply.json()
    assert "retry-after" in replies[429].headers


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://app.example",
        "https://app.example:8443",
        "https://app.example.evil.example",
        "null",
    ],
)
async def test_another_origins_page_may_neither_read_nor_change_anything(
    tmp_path: Path, origin: str
) -> None:
    async with site(tmp_path, allowed_origins=APP) as at:
        client = at.client(at.key("acme"), origin=origin)
        asked = await _preflight(client, "/api/query", "POST", "authorization")
        read = await client.get("/api/courses")
        changed = await client.post("/api/query", json=QUESTION)

    # A read is answered, but without the header that lets a browser show it to the page.
    assert [asked.status_code, read.status_code, changed.status_code] == [400, 200, 403]
    for reply in (asked, read, changed):
        assert OFFERED not in reply.headers
        assert "Origin" in reply.headers["vary"]
    assert "ANTIPHON_ALLOWED_ORIGINS" in changed.json()["error"]["message"]


@pytest.mark.parametrize(
    "origins",
    [
        "*",
        "null",
        "app.example",
        "https://app.example/",
        "https://app.example/path",
        "https://*.example",
        "https://App.example",
        "https://app.example:443",
        "https://me@app.example",
        "ftp://app.example",
    ],
)
def test_the_setting_refuses_what_no_browser_sends_as_an_origin(origins: str) -> None:
    with pytest.raises(ConfigurationError, match=r"https://app\.example"):
        load_settings(allowed_origins=f"https://fine.example,{origins}")


REPEATED = {
    "host": ("127.0.0.1", "evil.example"),
    "authorization": ("Bearer KEY", "Bearer other"),
    "x-api-key": ("one", "two"),
    "origin": ("http://127.0.0.1", "https://evil.example"),
    "content-type": ("application/json", "text/plain"),
    "content-length": ("2", "2"),
    "idempotency-key": ("one", "two"),
    "last-event-id": ("1", "2"),
}


@pytest.mark.parametrize("name", REPEATED)
async def test_a_request_that_repeats_a_header_that_decides_who_gets_in_is_refused(
    tmp_path: Path, name: str
) -> None:
    async with site(tmp_path) as at:
        key = at.key("acme")
        sent = {"host": "127.0.0.1", "authorization": f"Bearer {key}"}
        once = [f"{each}: {value}" for each, value in sent.items() if each != name]
        twice = [f"{name}: {value.replace('KEY', key)}" for value in REPEATED[name]]
        replies = [
            # In both orders: some servers take the first of two headers, others the last.
            await _raw(at, [*once, *twice]),
            await _raw(at, [*twice[::-1], *once]),
        ]
        plain = await _raw(at, [f"{each}: {value}" for each, value in sent.items()])

    assert plain.startswith("HTTP/1.1 200")
    for reply in replies:
        assert reply.startswith("HTTP/1.1 400")


async def _raw(at: Site, headers: list[str]) -> str:
    """Sends a request with these headers as they are, which no client's library would."""
    port = int(at.url.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = ["GET /api/courses HTTP/1.1", *headers, "connection: close", "", ""]
    writer.write("\r\n".join(lines).encode())
    reply = await reader.read()
    writer.close()
    return reply.decode()
