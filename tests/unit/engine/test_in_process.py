"""An application in the same process, as an HTTP client reads it."""

from __future__ import annotations

import asyncio

import httpx2

from antiphon.engine.in_process import InProcessTransport, Receive, Scope, Send


async def test_what_an_application_has_sent_is_read_before_it_sends_the_rest() -> None:
    was_read = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"first", "more_body": True})
        await was_read.wait()
        await send({"type": "http.response.body", "body": b"second"})

    pieces: list[bytes] = []
    async with (
        httpx2.AsyncClient(transport=InProcessTransport(app)) as client,
        client.stream("GET", "http://app.test/") as reply,
    ):
        async for piece in reply.aiter_raw():
            pieces.append(piece)
            was_read.set()

    assert pieces == [b"first", b"second"]
