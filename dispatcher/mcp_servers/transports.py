"""The ways to an MCP server: those of the package, with nothing of a server in the log, and HTTP bounded."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from antiphon.dispatcher.mcp_file import McpServer
from antiphon.vocabulary.errors import RemoteError

MAX_BYTES = 4_000_000
"""Bytes of a message over HTTP."""


@asynccontextmanager
async def transport_of(server: McpServer) -> AsyncIterator[Any]:
    """Starts a server's program, or prepares for requests; yields the streams of messages from and to it."""
    if not server.url:
        parameters = StdioServerParameters(
            command=server.command,
            args=server.args,
            env=server.env,
            encoding_error_handler="replace",
        )
        # What a server prints may hold what its environment does.
        with open(os.devnull, "w") as nowhere:  # noqa: ASYNC230 - it holds nothing
            async with stdio_client(parameters, errlog=nowhere) as streams:
                yield streams
        return
    async with (
        httpx2.AsyncClient(
            headers={**server.headers, "accept-encoding": "identity"},
            event_hooks={"response": [_bound]},
            timeout=None,  # each call has a limit of its own
        ) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


async def _bound(response: httpx2.Response) -> None:
    """Bounds the body of a response; of a stream of events, the package bounds each one."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise RemoteError("it sent compressed text, which was not asked for")
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _BoundedStream(response.stream)


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> None:
        assert isinstance(inner, httpx2.AsyncByteStream)
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        received = 0
        async for chunk in self._inner:
            received += len(chunk)
            if received > MAX_BYTES:
                raise RemoteError(f"it sent a message of more than {MAX_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
