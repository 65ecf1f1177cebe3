"""The engine's real network client against a server on loopback that misbehaves as networks do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from antiphon.engine import build_request, connect
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from tests.fakes_messages_api import TOOLS, asked, sse, started, text_reply

Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: req_7\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


async def whole(writer: asyncio.StreamWriter) -> None:
    writer.write(
        HEAD + b"".join(chunk(sse(event)) for event in text_reply("Hello")) + chunk(b"")
    )


async def cut_in_mid_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + chunk(sse(started())))


async def closed_at_once(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


async def silent_in_mid_stream(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + chunk(sse(started())))
    await asyncio.Future()


async def silent_from_the_first(writer: asyncio.StreamWriter) -> None:
    await asyncio.Future()


async def no_http(writer: asyncio.StreamWriter) -> None:
    writer.write(b"\x15\x03\x01 no http at all\r\n\r\n")


async def wrong_length(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"zz\r\nnot a chunk\r\n")


@asynccontextmanager
async def server(serve: Serve) -> AsyncIterator[str]:
    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await serve(writer)
            await writer.drain()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    tasks = asyncio.all_tasks()
    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    listening.close()
    for task in asyncio.all_tasks() - tasks:
        task.cancel()


async def events(url: str) -> list[Json]:
    model = connect("sk-secret", url, silence_s=0.2)
    try:
        return [
            event async for event in model.stream(build_request(asked(), TOOLS), 5.0)
        ]
    finally:
        await model.aclose()


async def test_a_reply_comes_whole_over_the_network() -> None:
    async with server(whole) as url:
        got = await events(url)

    assert [event["type"] for event in got] == [
        event["type"] for event in text_reply("Hello")
    ]
    assert got[0]["request_id"] == "req_7"


@pytest.mark.parametrize(
    ("serve", "kind"),
    [
        (cut_in_mid_stream, "connection"),
        (closed_at_once, "connection"),
        (silent_in_mid_stream, "silence"),
        (silent_from_the_first, "timeout"),
        (no_http, "connection"),
        (wrong_length, "connection"),
    ],
)
async def test_each_way_of_breaking_is_one_kind_of_failure(
    serve: Serve, kind: str
) -> None:
    async with server(serve) as url:
        with pytest.raises(ModelError) as failure:
            await events(url)

    assert (failure.value.kind, failure.value.retryable) == (kind, True)
    assert "sk-secret" not in str(failure.value)


async def test_a_server_that_is_not_there_is_a_connection_failure() -> None:
    with pytest.raises(ModelError) as failure:
        # Nobody listens at port 9 (discard) of this machine.
        await events("http://127.0.0.1:9")

    assert failure.value.kind == "connection"
