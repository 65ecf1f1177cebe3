"""The end of event streams when the service stops: their readers are told, and not just cut off."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.errors import error_body

LAST_WORDS_S = 2.0
"""Seconds that a stream gets to end by itself, once the queries whose callers wait were cancelled."""
_SAID = error_body(
    "stopping",
    "The service stops. What still runs goes on when it starts again: follow it then, with the id of the last event "
    "as Last-Event-ID.",
)
STOPPING = b"event: stopping\ndata: " + msgspec.json.encode(_SAID) + b"\n\n"


class _Stream:
    """One stream that is being sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._is_over = False

    async def send(self, message: Message) -> None:
        # What the app still sends behind the last words has nowhere to go.
        if not self._is_over:
            await self._send(message)

    async def end(self) -> None:
        self._is_over = True
        await self._send(
            {"type": "http.response.body", "body": STOPPING, "more_body": True}
        )
        await self._send({"type": "http.response.body", "body": b""})


class StreamEnds:
    """The event streams that are being sent; one an app."""

    def __init__(self) -> None:
        self._open: set[_Stream] = set()

    def began(self, stream: _Stream) -> None:
        self._open.add(stream)

    def ended(self, stream: _Stream) -> None:
        self._open.discard(stream)

    async def end(self) -> None:
        """Ends those that are left, each with an event that says why."""
        # A reader that does not read any more must not hold the others up.
        ending = [stream.end() for stream in list(self._open)]
        await asyncio.gather(*ending, return_exceptions=True)


class EventStreams:
    """Knows which replies are event streams, for as long as they are sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        stream = _Stream(send)
        streams: StreamEnds = scope["app"].state.event_streams

        async def send_and_note(message: Message) -> None:
            if message["type"] == "http.response.start":
                content_type = dict(message["headers"]).get(b"content-type", b"")
                if content_type.startswith(b"text/event-stream"):
                    streams.began(stream)
            await stream.send(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            streams.ended(stream)
