"""The end of event streams when the service stops, or their reader's key counts no more: readers are told why."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from antiphon.api.door import Credentials
from antiphon.api.errors import ErrorBody, error_body
from antiphon.api.responses import last_words_of
from antiphon.service import Antiphon
from antiphon.vocabulary.errors import ServiceError, UnauthorizedError

LOOK_S = 1.0
"""Seconds between two looks at whether the readers of streams would still be let in."""
LAST_WORDS_S = 2.0
"""Seconds that a stream gets to end by itself, once the queries whose callers wait were cancelled."""
STOPPING = error_body(
    "stopping",
    "The service stops. What still runs goes on when it starts again: follow it then, with the id of the last event "
    "as Last-Event-ID.",
)


class _Stream:
    """One stream that is being sent.

    Attributes:
        caller: Who reads it.
    """

    def __init__(self, scope: Scope, send: Send) -> None:
        self.caller = Credentials.of(Headers(scope=scope))
        self._words = last_words_of(scope)
        self._send = send
        self._is_over = False

    async def send(self, message: Message) -> None:
        # What the app still sends behind the last words has nowhere to go.
        if not self._is_over:
            await self._send(message)

    async def end(self, why: ErrorBody) -> None:
        self._is_over = True
        last = self._words(why)
        # To the app this is a reader who went away: it lets go of what it had open for them.
        await self._send(
            {"type": "http.response.body", "body": last, "more_body": True}
        )
        await self._send({"type": "http.response.body", "body": b""})


class StreamEnds:
    """The event streams that are being sent; one an app."""

    def __init__(self) -> None:
        self._open: set[_Stream] = set()
        self._watching: asyncio.Task[None] | None = None
        self._ending: set[asyncio.Task[None]] = set()

    def began(self, stream: _Stream, service: Antiphon) -> None:
        self._open.add(stream)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(service))

    def ended(self, stream: _Stream) -> None:
        self._open.discard(stream)
        if not self._open and self._watching is not None:
            self._watching.cancel()
            self._watching = None

    async def end(self) -> None:
        """Ends those that are left, each with an event that says why."""
        # A reader that does not read any more must not hold the others up.
        ending = [stream.end(STOPPING) for stream in list(self._open)]
        await asyncio.gather(*ending, return_exceptions=True)

    async def _watch(self, service: Antiphon) -> None:
        """Ends the streams of those who would not be let in now, whichever process revoked their key."""
        while True:
            await asyncio.sleep(LOOK_S)
            # Each caller once: thousands of streams may be one caller's.
            for caller in {stream.caller for stream in self._open}:
                try:
                    caller.principal(service)
                except UnauthorizedError as error:
                    self._end_all_of(caller, error)
                except ServiceError:
                    # Nobody can be looked up now, so nobody new is let in.
                    continue

    def _end_all_of(self, caller: Credentials, why: UnauthorizedError) -> None:
        said = error_body(why.code, str(why))
        for stream in [each for each in self._open if each.caller == caller]:
            self._open.discard(stream)
            # A reader that does not read any more must not hold the others up.
            ending = asyncio.create_task(stream.end(said))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


class EventStreams:
    """Knows which replies are event streams, for as long as they are sent."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope["app"].state
        streams: StreamEnds = state.event_streams
        stream: _Stream | None = None

        async def send_and_note(message: Message) -> None:
            nonlocal stream
            if message["type"] == "http.response.start":
                content_type = dict(message["headers"]).get(b"content-type", b"")
                if content_type.startswith(b"text/event-stream"):
                    stream = _Stream(scope, send)
                    streams.began(stream, state.service)
            await (send if stream is None else stream.send)(message)

        try:
            await self._app(scope, receive, send_and_note)
        finally:
            if stream is not None:
                streams.ended(stream)
