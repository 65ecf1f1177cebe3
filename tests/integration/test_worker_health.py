"""The health of a worker over HTTP, as a monitor asks for it."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from antiphon.workers.worker_health import Health, answering


async def metrics() -> str:
    return "antiphon_queries 3\n"


READY = Health(lambda: True, metrics, lambda: ["no API key is set"])
FULL = Health(lambda: False, None, tuple, lambda: "the servers have no room")
DRAINING = Health(lambda: False)


@pytest.mark.parametrize(
    ("health", "path", "status", "text"),
    [
        (READY, "/healthz", 200, "alive\n"),
        (FULL, "/healthz", 200, "alive\n"),
        (READY, "/readyz", 200, "ready\nno API key is set\n"),
        (FULL, "/readyz", 503, "takes no queries\nthe servers have no room\n"),
        (DRAINING, "/readyz", 503, "takes no queries\n"),
        (READY, "/metrics", 200, "antiphon_queries 3\n"),
        (FULL, "/metrics", 404, ""),
        (READY, "/", 404, ""),
    ],
)
async def test_a_worker_says_whether_it_takes_queries_and_why_not(
    health: Health, path: str, status: int, text: str
) -> None:
    async with (
        answering(health, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        reply = await client.get(path)

    assert (reply.status_code, reply.text) == (status, text)


async def test_head_gets_the_headers_alone() -> None:
    async with answering(READY, "127.0.0.1", 0) as port:
        sent = []
        for method in ("GET", "HEAD"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"{method} /healthz HTTP/1.1\r\n\r\n".encode())
            sent.append(await reader.read())
            writer.close()

    assert sent[0] == sent[1] + b"alive\n"


async def test_the_health_is_read_only_and_served_no_longer_than_the_worker_runs() -> (
    None
):
    async with (
        answering(READY, "127.0.0.1", 0) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        reply = await client.post("/healthz")

    assert reply.status_code == 405
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
