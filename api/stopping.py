"""Ends event streams, with the reason, when the service stops or their reader's key is no longer valid."""

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
"""Seconds between two checks that the readers of streams would still be let in."""
LAST_WORDS_S = 2.0
"""Seconds that a stream gets to end in its own way, once the queries whose callers wait were cancelled."""
STOPPING = error_body(
    "stopping",
    "The service stops. What still runs goes on when it starts again: follow it then, with the id of the last event "
    "as Last-Event-ID.",
)


class _Stream:
    """One open stream.

    Attributes:
        caller: The credentials of its reader.
    """

    def __init__(self, scope: Scope, send: Send) -> None:
        self.caller = Credentials.of(Headers(scope=scope))
        self._words = last_words_of(scope)
        self._send = send
        self._is_over = False

    async def send(self, message: Message) -> None:
        # After the last words, anything that the app still sends is dropped.
        if not self._is_over:
            await self._send(message)

    async def end(self, why: ErrorBody) -> None:
        self._is_over = True
        last = self._words(why)
        # The server then reports the end to the app like a reader who went away, and the app cleans up.
        await self._send(
            {"type": "http.response.body", "body": last, "more_body": True}
        )
        await self._send({"type": "http.response.body", "body": b""})


class StreamEnds:
    """The open event streams of one app."""

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
        """Ends the remaining streams, each with an event that names the reason."""
        # All at the same time: a reader that has stopped reading must not hold up the others.
        ending = [stream.end(STOPPING) for stream in list(self._open)]
        await asyncio.gather(*ending, return_exceptions=True)

    async def _watch(self, service: Antiphon) -> None:
        """Ends the streams of readers who would not be let in now; another process may have revoked their key."""
        while True:
            await asyncio.sleep(LOOK_S)
            # Each caller once, because one caller may have thousands of streams.
            for caller in {stream.caller for stream in self._open}:
                try:
                    caller.principal(service)
                except UnauthorizedError as error:
                    self._end_all_of(caller, error)
                except ServiceError:
                    # The keys cannot be read now: that is no reason to end streams of callers who were let in.
                    continue

    def _end_all_of(self, caller: Credentials, why: UnauthorizedError) -> None:
        said = error_body(why.code, str(why))
        for stream in [each for each in self._open if each.caller == caller]:
            self._open.discard(stream)
            # In its own task: a reader that has stopped reading must not hold up the others.
            ending = asyncio.create_task(stream.end(said))
            self._ending.add(ending)
            ending.add_done_callback(self._ending.discard)


class EventStreams:
    """Registers each reply that is an event stream, as long as it is open."""

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
