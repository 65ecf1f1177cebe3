"""No test reaches beyond this machine."""

from __future__ import annotations

import asyncio
import socket

import pytest


def test_another_machine_cannot_be_reached() -> None:
    with (
        socket.socket() as sock,
        pytest.raises(RuntimeError, match="network is closed"),
    ):
        sock.connect(("192.0.2.1", 80))
    with pytest.raises(RuntimeError, match="network is closed"):
        socket.getaddrinfo("example.org", 80)


async def test_another_machine_cannot_be_reached_through_asyncio() -> None:
    with pytest.raises(RuntimeError, match="network is closed"):
        await asyncio.open_connection("192.0.2.1", 80)


async def test_this_machine_can_be_reached() -> None:
    server = await asyncio.start_server(
        lambda _, writer: writer.close(), "127.0.0.1", 0
    )
    port = server.sockets[0].getsockname()[1]

    reader, writer = await asyncio.open_connection(
        "localhost", port, family=socket.AF_INET
    )

    assert await reader.read() == b""
    writer.close()
    server.close()
