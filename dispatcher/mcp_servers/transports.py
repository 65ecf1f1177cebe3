"""The transports to an MCP server: those of the package, but with bounds and without a server's output in the log."""

from __future__ import annotations

import codecs
import encodings.utf_8
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
MAX_LINE = 16_000_000
"""Characters of a program's message, which is one line; the rest of a longer one is dropped."""


class _BoundedLines(encodings.utf_8.IncrementalDecoder):
    """UTF-8 in bounded lines: the package would keep a line of any length, and copy it with every piece it receives."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._length = 0

    def decode(self, data: Any, final: bool = False) -> str:
        text = super().decode(data, final)
        if self._length > MAX_LINE:
            _, newline, text = text.partition("\n")
            if not newline:
                return ""
            self._length = 0
        before, newline, rest = text.rpartition("\n")
        self._length = len(rest) if newline else self._length + len(rest)
        if self._length <= MAX_LINE:
            return text
        # The line is too long to be a message: end it here and drop what came of it.
        return f"{before}{newline}\n"


def _codec(name: str) -> codecs.CodecInfo | None:
    if name != ENCODING:
        return None
    utf_8 = codecs.lookup("utf-8")
    return codecs.CodecInfo(
        utf_8.encode, utf_8.decode, incrementaldecoder=_BoundedLines, name=ENCODING
    )


# The package lets its caller choose only the encoding, so the bound on lines has to be an encoding.
ENCODING = "utf_8_in_bounded_lines"
codecs.register(_codec)


@asynccontextmanager
async def transport_of(server: McpServer) -> AsyncIterator[Any]:
    """Starts a server's program or prepares HTTP requests; yields the streams of messages from and to the server."""
    if not server.url:
        parameters = StdioServerParameters(
            command=server.command,
            args=server.args,
            env=server.env,
            encoding=ENCODING,
            encoding_error_handler="replace",
        )
        # A server may print the secrets in its environment.
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
    """Bounds the body of a response; the package itself bounds each event of a stream."""
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
