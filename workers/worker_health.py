"""The health of a worker over HTTP, for its supervisor: /healthz, /readyz and /metrics, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import NamedTuple

READ_S = 5.0
"""Seconds within which the whole request must arrive."""
_MOST_BYTES = 8_192


class Health(NamedTuple):
    """The state that a worker reports.

    Attributes:
        ready: Returns True while it takes queries.
        metrics: Returns the metrics for Prometheus; None: the worker keeps none.
        warnings: Returns, in sentences, the conditions that make its answers worse than they should be.
        trouble: Returns why nothing can be stored now, in a sentence; None: it can.
    """

    ready: Callable[[], bool]
    metrics: Callable[[], Awaitable[str]] | None = None
    warnings: Callable[[], Sequence[str]] = tuple
    trouble: Callable[[], str | None] = lambda: None


@asynccontextmanager
async def answering(health: Health, host: str, port: int) -> AsyncIterator[int]:
    """Serves at an address while the body runs; yields the port."""

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        # A client that sends no request, or goes away, gets no answer.
        with suppress(TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            async with asyncio.timeout(READ_S):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await _reply(head, health))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, host, port, limit=_MOST_BYTES)
    try:
        yield int(server.sockets[0].getsockname()[1])
    finally:
        server.close()


async def _reply(head: bytes, health: Health) -> bytes:
    method, _, rest = head.partition(b" ")
    path = rest.partition(b" ")[0]
    if method == b"HEAD":
        as_got = await _reply(b"GET " + rest, health)
        return as_got.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    if method != b"GET":
        return _response("405 Method Not Allowed", "")
    if path == b"/healthz":
        return _response("200 OK", "alive\n")
    if path == b"/readyz" and health.ready():
        lines = ["ready", *health.warnings(), ""]
        return _response("200 OK", "\n".join(lines))
    if path == b"/readyz":
        lines = ["takes no queries", *filter(None, [health.trouble()]), ""]
        return _response("503 Service Unavailable", "\n".join(lines))
    if path == b"/metrics" and health.metrics is not None:
        return _response("200 OK", await health.metrics())
    return _response("404 Not Found", "")


def _response(status: str, body: str) -> bytes:
    content = body.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + content
