"""Servers on loopback that misbehave like real ones: real sockets, with as much HTTP as each needs."""

from __future__ import annotations

import asyncio
import ssl
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cache

import msgspec

from antiphon.vocabulary.ports import Json
from tests.fakes_messages_api import (
    block_started,
    block_stopped,
    delta,
    ended,
    sse,
    started,
    text_reply,
)

TLS_HANDSHAKE = b"\x16"
"""The first byte from a client that speaks TLS to a server without TLS."""
PING_EVERY_S = 0.15
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_7\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
"""The head of a streamed reply."""
CONTEXT_SENTENCE = (
    "request (13392 tokens) exceeds the available context size (512 tokens)"
)
ERROR_SENTENCE = "the slot was lost"


class Exchange:
    """One request and the means to answer it.

    Attributes:
        number: Number of the request on this connection, from 1.
        body: The request's body.
    """

    def __init__(
        self, writer: asyncio.StreamWriter, number: int, path: str, body: bytes
    ) -> None:
        self.writer = writer
        self.number = number
        self.path = path
        self.body = body

    async def send(self, *pieces: bytes) -> None:
        self.writer.write(b"".join(pieces))
        await self.writer.drain()

    async def chunks(self, *pieces: bytes) -> None:
        """Sends pieces of a chunked body; an empty one ends it."""
        await self.send(*[b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces])

    async def answer(
        self, status: str, body: bytes, content_type: str = "application/json"
    ) -> None:
        """Sends a whole response."""
        head = f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n\r\n"
        await self.send(head.encode(), body)

    async def hang(self) -> None:
        """Sends nothing more, for ever."""
        await asyncio.Future()

    def reset(self) -> None:
        self.writer.transport.abort()


Conduct = Callable[[Exchange], Awaitable[None]]


async def silent(exchange: Exchange) -> None:
    await exchange.hang()


async def headers_only(exchange: Exchange) -> None:
    await exchange.send(CHUNKED)
    await exchange.hang()


async def pings_only(exchange: Exchange) -> None:
    await exchange.send(CHUNKED)
    while True:
        await exchange.chunks(sse({"type": "ping"}))
        # Real time, as between two processes; the client decides how long this goes on.
        await asyncio.sleep(PING_EVERY_S)


async def closes_kept_connections(exchange: Exchange) -> None:
    """Answers a connection's first request (at first with a search), and resets the connection at the second."""
    if exchange.number > 1:
        exchange.reset()
    elif b'"tools"' in exchange.body and b'"search_result"' not in exchange.body:
        await streamed(exchange, search_reply())
    else:
        await well(exchange)


async def bare_error_event(exchange: Exchange) -> None:
    """Answers like llama.cpp when it fails after the response's head."""
    await exchange.send(CHUNKED)
    error = {"code": 500, "message": ERROR_SENTENCE, "type": "server_error"}
    await exchange.chunks(b"event: error\ndata: " + encoded(error) + b"\n\n", b"")


async def refuses_context_with_413(exchange: Exchange) -> None:
    error = {"type": "request_too_large", "message": "Request exceeds the maximum size"}
    await exchange.answer(
        "413 Payload Too Large", encoded({"type": "error", "error": error})
    )


async def refuses_context_as_llama_cpp(exchange: Exchange) -> None:
    error = {
        "code": 400,
        "message": CONTEXT_SENTENCE,
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 13392,
        "n_ctx": 512,
    }
    await exchange.answer("400 Bad Request", encoded({"error": error}))


async def not_found(exchange: Exchange) -> None:
    await exchange.answer("404 Not Found", b'{"detail":"Not Found"}')


async def no_http(exchange: Exchange) -> None:
    await exchange.send(b"no http at all\r\n\r\n")


async def proxy_that_refuses(exchange: Exchange) -> None:
    await exchange.answer(
        "403 Forbidden", b"<html>blocked by policy</html>", "text/html"
    )


async def well(exchange: Exchange) -> None:
    """Answers like the Messages API."""
    await streamed(exchange, text_reply("Logs grow."))


async def streamed(exchange: Exchange, events: list[Json]) -> None:
    """Sends a streamed reply to its end."""
    await exchange.send(CHUNKED)
    await exchange.chunks(*[sse(event) for event in events], b"")


def search_reply() -> list[Json]:
    """A reply that calls the search tool."""
    asked = '{"query":"logs"}'
    return [
        started(),
        block_started(
            0, type="tool_use", id="toolu_1", name="search_course_content", input={}
        ),
        delta(0, "input_json_delta", partial_json=asked),
        block_stopped(0),
        *ended("tool_use"),
    ]


async def gzip_bomb(exchange: Exchange, status: str = "200 OK") -> None:
    """Sends about 100 kB of gzip that unpack to 100 MB of JSON."""
    body = _bomb()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
    await exchange.send(
        head.encode(), f"content-length: {len(body)}\r\n\r\n".encode(), body
    )


def encoded(value: object) -> bytes:
    return msgspec.json.encode(value)


@cache
def _bomb() -> bytes:
    squeezed = zlib.compressobj(wbits=31)
    pieces = [squeezed.compress(b'{"type":"message","x":"')]
    for _ in range(100):
        pieces.append(squeezed.compress(b"a" * 2**20))
    return b"".join(pieces) + squeezed.compress(b'"}') + squeezed.flush()


class Server:
    """A listening server and what it received.

    Attributes:
        url: Its address.
        connections: The number of connections so far.
        bodies: The bodies of the requests.
    """

    def __init__(self) -> None:
        self.url = ""
        self.connections = 0
        self.bodies: list[bytes] = []


@asynccontextmanager
async def server(
    conduct: Conduct, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """Serves on a free port until the block ends."""
    seen = Server()
    handlers: set[asyncio.Task[None]] = set()

    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        seen.connections += 1
        try:
            await _serve(reader, writer, conduct, seen)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    scheme = "http"
    if tls is not None:
        scheme = "https"
    seen.url = f"{scheme}://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield seen
    finally:
        listening.close()
        for task in handlers:
            task.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)


async def _serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    conduct: Conduct,
    seen: Server,
) -> None:
    number = 0
    while not reader.at_eof():
        first = await reader.readexactly(1)
        if first == TLS_HANDSHAKE:
            await Exchange(writer, 0, "", b"").answer("400 Bad Request", b"")
            return
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        body = await reader.readexactly(_length(head))
        number += 1
        seen.bodies.append(body)
        path = head.split(" ", 2)[1]
        await conduct(Exchange(writer, number, path, body))


def _length(head: str) -> int:
    for line in head.split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0
