"""Connections over real sockets: what they may hold of the service, and for how long."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from fastapi import FastAPI, Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.server import ServerState

from antiphon.api import connections
from antiphon.api.bodies import BodyLimit
from antiphon.api.connections import HEAD_BYTES, BoundedHttp
from antiphon.api.errors import install_error_handlers
from antiphon.api.serving import serve_app

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = b"x" * 20_000_000

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class App:
    """Answers at once, or when the test lets it; counts the requests, and those that are over."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.go_on.set()
        self.asked = 0
        self.over = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.asked += 1
        try:
            await self.go_on.wait()
            body = b"ok"
            if scope["path"] == "/large":
                body = LARGE
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            self.over += 1


@asynccontextmanager
async def serving(
    app: ASGIApp, most: int = 10
) -> AsyncIterator[tuple[int, ServerState]]:
    """A server in this process; its port, and the connections that it knows."""
    config = uvicorn.Config(app, lifespan="off", log_level="critical")
    state = ServerState()
    server = await asyncio.get_running_loop().create_server(
        lambda: BoundedHttp(config=config, server_state=state, app_state={}, most=most),
        "127.0.0.1",
    )
    try:
        yield server.sockets[0].getsockname()[1], state
    finally:
        server.close()
        for each in list(state.connections):
            each.transport.abort()


async def until(holds: Callable[[], bool]) -> None:
    """Waits for what sockets bring about; the test's own time limit ends it."""
    while not holds():  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(0.01)


async def connected(port: int) -> Streams:
    return await asyncio.open_connection("127.0.0.1", port)


async def answer_of(streams: Streams, sent: bytes) -> tuple[int, str]:
    """The status, and the code of the error; the connection is closed behind it."""
    reader, writer = streams
    writer.write(sent)
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert b"connection: close" in head
    assert b"application/json" in head
    return int(head.split()[1]), json.loads(body)["error"]["code"]


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (HEAD_BYTES + 8_192),
        b"GET /" + b"a" * (HEAD_BYTES + 8_192),
        b"GET / HTTP/1.1\r\n" + b"X: a\r\n" * (HEAD_BYTES // 5),
    ],
    ids=["one header", "the address", "many headers"],
)
async def test_a_giant_head_is_refused_before_it_is_whole(sent: bytes) -> None:
    app = App()
    async with serving(app) as (port, _):
        refused = await answer_of(await connected(port), sent)

    assert refused == (431, "head_too_large")
    assert app.asked == 0


async def test_the_bytes_behind_a_body_are_bounded_too() -> None:
    trailers = b"0\r\n" + b"X: a\r\n" * (HEAD_BYTES // 4)
    async with serving(app := App()) as (port, _):
        app.go_on.clear()
        reader, writer = await connected(port)
        writer.write(
            b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"1\r\na\r\n" + trailers
        )

        # The request is with the app already, so the server says nothing, and the connection ends.
        assert await reader.read() == b""
        writer.close()


async def test_a_head_just_within_the_bound_is_answered() -> None:
    async with serving(App()) as (port, _):
        reader, writer = await connected(port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (HEAD_BYTES - 8_192))
        writer.write(b"\r\n\r\n")

        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.close()


async def test_bytes_that_are_not_http_are_refused_in_the_shape_of_all_errors() -> None:
    async with serving(App()) as (port, _):
        refused = await answer_of(
            await connected(port), b"\x16\x03\x01\x02\x00\r\n\r\n"
        )

    assert refused == (400, "malformed_http")


async def test_one_connection_too_many_closes_the_one_that_is_idle_for_longest() -> (
    None
):
    async with serving(App(), most=2) as (port, state):
        oldest = await connected(port)
        newer = await connected(port)
        newer[1].write(ASK)
        assert (await newer[0].readline()).startswith(b"HTTP/1.1 200")

        third = await connected(port)
        third[1].write(ASK)

        assert (await third[0].readline()).startswith(b"HTTP/1.1 200")
        assert await oldest[0].read() == b""
        assert len(state.connections) == 2
        for each in (oldest, newer, third):
            each[1].close()


async def test_if_all_connections_are_in_use_one_more_is_refused_at_once() -> None:
    async with serving(app := App(), most=2) as (port, _):
        app.go_on.clear()
        busy = [await connected(port) for _ in range(2)]
        for each in busy:
            each[1].write(ASK)
        await until(lambda: app.asked == 2)

        refused = await answer_of(await connected(port), ASK)
        app.go_on.set()
        answers = [await each[0].readline() for each in busy]

        assert refused == (503, "busy")
        assert [answer.split()[1] for answer in answers] == [b"200", b"200"]
        for each in busy:
            each[1].close()


async def test_a_caller_that_does_not_read_is_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.05)
    async with serving(app := App()) as (port, state):
        deaf = socket.create_connection(("127.0.0.1", port))
        deaf.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        await until(lambda: app.over == 1)

        # It was cut off: the app could not have ended otherwise, and nothing of its reply is kept.
        await until(lambda: not state.connections)
        deaf.close()


async def test_a_body_that_trickles_is_refused_and_its_connection_ends() -> None:
    app = FastAPI()
    app.add_api_route("/", _read_all, methods=["POST"])
    install_error_handlers(app)
    app.add_middleware(BodyLimit, max_bytes=1_000, larger={}, within_s=0.3)
    async with serving(app) as (port, _):
        reader, writer = await connected(port)
        writer.write(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900\r\n\r\n")
        trickling = asyncio.create_task(_trickle(writer))
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        trickling.cancel()
        writer.close()

    assert head.startswith(b"HTTP/1.1 408")
    assert json.loads(body)["error"]["code"] == "body_too_slow"


async def test_a_caller_that_goes_on_sending_can_still_read_why_it_was_refused() -> (
    None
):
    app = FastAPI()
    install_error_handlers(app)
    app.add_middleware(BodyLimit, max_bytes=1_000, larger={})
    async with serving(app) as (port, state):
        caller = socket.create_connection(("127.0.0.1", port))
        caller.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n")
        await until(lambda: state.total_requests == 1)
        # A connection that was closed answers the first of these by forgetting its reply; the second would fail.
        for _ in range(2):
            caller.sendall(b"x" * 100)
            await asyncio.sleep(0.05)
        caller.setblocking(False)
        reply = await asyncio.get_running_loop().sock_recv(caller, 10_000)
        caller.close()
        await until(lambda: not state.connections)

    assert reply.startswith(b"HTTP/1.1 413")


async def _read_all(request: Request) -> None:
    await request.body()


async def _trickle(writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"{")
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("made_with", [0, socket.IPPROTO_TCP])
async def test_no_reply_waits_until_a_caller_has_acknowledged_its_head(
    made_with: int,
) -> None:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, made_with)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    address = listener.getsockname()
    # A second handle of the same listener, to accept a connection from when nobody else does any more.
    same = listener.dup()
    serving_app = asyncio.create_task(serve_app(App(), listener))
    reader, writer = await connected(address[1])
    writer.write(ASK)
    await reader.readuntil(b"ok")
    writer.close()
    serving_app.cancel()
    await asyncio.gather(serving_app, return_exceptions=True)

    with same, socket.create_connection(address):
        accepted, _ = same.accept()

    assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    accepted.close()
