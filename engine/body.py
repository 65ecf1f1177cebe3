"""Reads the body of a response as events: a stream, or a whole message of a server that does not stream; bounded."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import aclosing

import httpx2

from antiphon.engine.connection_failures import from_connection
from antiphon.engine.failures import from_error_event
from antiphon.engine.reply import events_of
from antiphon.engine.sse import SseDecoder
from antiphon.engine.wire_json import excerpt, read_object
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json

CONNECTION_ERRORS = (httpx2.HTTPError, httpx2.StreamError, OSError)
"""Errors of a connection that breaks during a reply, which the SDK does not wrap."""
# Counts decoded bytes: a megabyte of gzip can become hundreds.
MAX_BODY_BYTES = 8 * 2**20
MAX_REFUSAL_BYTES = 64 * 2**10
"""Bytes to read of an error's body, whose message is at the beginning."""
DRAIN_S = 0.2
"""Seconds for the end of a body after a complete reply: only a connection read to its end can be used again."""
_HEAD_BYTES = 8
_FIELD = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?::|(?:data|event|id|retry)\s*:)")
"""The beginning of a stream of events, even under another content type."""


async def read_events(response: httpx2.Response) -> AsyncGenerator[Json, None]:
    """Yields the events of a reply up to its `message_stop`; errors after that do not cost the reply.

    Raises:
        ModelError: The reply broke off, or the body is not a reply.
    """
    request_id = response.headers.get("request-id")
    try:
        # Closed here, because otherwise the event loop closes an abandoned iteration later, in a task of its own.
        async with (
            aclosing(response.aiter_bytes()) as chunks,
            aclosing(_batches(response, chunks)) as batches,
        ):
            async for batch in batches:
                for event in batch:
                    kind = event["type"]
                    if kind == "error":
                        raise from_error_event(event, request_id)
                    # Only the event leaves this function; the trace needs the id for questions to the provider.
                    if request_id is not None and kind == "message_start":
                        event["request_id"] = request_id
                    yield event
                    if kind == "message_stop":
                        if not response.is_closed:
                            await _drain(chunks)
                        return
    except CONNECTION_ERRORS as error:
        raise from_connection(error, streaming=True, request_id=request_id) from error


async def read_whole(response: httpx2.Response) -> bytes:
    """Returns the body of a response that is not a model's reply.

    Raises:
        ModelError: It is too large.
    """
    async with aclosing(response.aiter_bytes()) as chunks:
        return await _whole(b"", chunks)


async def read_refusal(response: httpx2.Response) -> bytes:
    """Returns the beginning of an error's body, or as much as arrived before the connection broke."""
    body = bytearray()
    try:
        async with aclosing(response.aiter_bytes()) as chunks:
            async for chunk in chunks:
                body += chunk
                if len(body) >= MAX_REFUSAL_BYTES:
                    break
    except CONNECTION_ERRORS:
        pass  # The status already says what is wrong.
    return bytes(body[:MAX_REFUSAL_BYTES])


async def _batches(
    response: httpx2.Response, chunks: AsyncGenerator[bytes, None]
) -> AsyncGenerator[Iterable[Json], None]:
    """Yields the events of a reply, those of one chunk together."""
    head = await _head(chunks)
    content_type = response.headers.get("content-type", "").lower()
    # Some servers ignore `stream`, and proxies answer with their own pages.
    if not _is_stream(content_type, head):
        yield _events_of_body(await _whole(head, chunks))
        return
    decoder = SseDecoder()
    yield decoder.feed(head)
    async for chunk in chunks:
        yield decoder.feed(chunk)
    yield decoder.end()


async def _head(chunks: AsyncGenerator[bytes, None]) -> bytes:
    """Returns the beginning of a body, long enough to recognise its kind."""
    head = bytearray()
    async for chunk in chunks:
        head += chunk
        if len(head.strip()) >= _HEAD_BYTES:
            break
    return bytes(head)


def _is_stream(content_type: str, head: bytes) -> bool:
    """Returns True for a stream of events, judged by its beginning first and by its header second."""
    if head.lstrip().startswith(b"{"):
        return False
    return "event-stream" in content_type or _FIELD.match(head) is not None


async def _whole(head: bytes, chunks: AsyncGenerator[bytes, None]) -> bytes:
    body = bytearray(head)
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ModelError(
                "malformed",
                f"the reply is larger than {MAX_BODY_BYTES >> 20} MB; it was cut off",
            )
    return bytes(body)


def _events_of_body(body: bytes) -> Iterator[Json]:
    """Reads a body that is not a stream: a whole message, or an error under HTTP 200."""
    message = read_object(body)
    if message.get("type") == "error" or message.get("error"):
        raise from_error_event(message)
    if message.get("type") != "message":
        raise ModelError(
            "malformed",
            f"the server answered with something else than a message: {excerpt(body)}",
        )
    return events_of(message)


async def _drain(chunks: AsyncGenerator[bytes, None]) -> None:
    """Reads a little of what follows a complete reply, ignoring errors, so that the connection can be used again."""
    read = 0
    try:
        async with asyncio.timeout(DRAIN_S):
            async for chunk in chunks:
                read += len(chunk)
                if read > MAX_REFUSAL_BYTES:
                    return
    except (*CONNECTION_ERRORS, TimeoutError):
        return
