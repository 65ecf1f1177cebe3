"""One connection within bounds: how large and how late a request's head may be, and how slowly its caller may read."""

from __future__ import annotations

import asyncio
import resource
import socket
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from antiphon.api.errors import error_body

HEAD_S = 10.0
"""Seconds in which the head of a request must have come: one that never does would hold its connection for ever."""
HEAD_BYTES = 65_536
"""Most bytes of a head; and of what is between two pieces of a body, or behind it."""
READ_S = 30.0
LEAST_READ_BYTES = 16_384
"""Bytes that a caller must read within `READ_S`, if so many wait: a caller who reads nothing holds what was made."""
SEND_BUFFER_BYTES = 131_072
"""What the system keeps of a reply that is not read yet; by itself it takes megabytes for each connection."""
LINGER_S = 1.0
"""Seconds in which a caller who was refused may read why: closed at once, a reply is lost with what was not read."""
HANDLES_BESIDE = 512
"""Handles that the process needs for other things than its callers: files, the index, the model's server."""
_PIECE = 4_096


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol, which by itself waits for ever, and keeps whatever comes.

    Args:
        most: The most connections. One more closes the connection that has been idle for longest, or is refused.
    """

    def __init__(self, *args: Any, most: int, **options: Any) -> None:
        super().__init__(*args, **options)
        self._most = most
        self._late: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._waiting_bytes = 0
        self._without_end = 0
        self._is_refused = False
        self._is_one_too_many = False
        self.idle_since: float | None = None

    def connection_made(self, transport: Any) -> None:
        """Takes a connection in."""
        super().connection_made(transport)
        connected = transport.get_extra_info("socket")
        if connected is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        self.idle_since = self.loop.time()
        self._expect_head()
        if len(self.connections) > self._most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Reads what came, piece by piece."""
        self.idle_since = None
        if self._is_one_too_many:
            self._refuse(
                503,
                "busy",
                f"This service has {self._most} connections, and all of them are in use: try again in a moment.",
                b"retry-after: 1\r\n",
            )
        for start in range(0, len(data), _PIECE):
            if self._is_refused:
                return
            self._read(data[start : start + _PIECE])
        # A request under way has its whole head; what comes between two is the beginning of the next.
        if self._is_answering:
            self._stop_expecting()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go of the timers too."""
        self._stop_expecting()
        self._stop_watching()
        # Nothing is left to close; a reply that held its connection would wait for the garbage collector with it.
        if self.cycle is not None:
            self.cycle.transport = self.transport
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Counts the bytes of a head from here."""
        self._without_end = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Counts the bytes of what is no body from here, and has the reply close the connection our way."""
        self._without_end = 0
        super().on_headers_complete()
        if self.cycle is not None:
            self.cycle.transport = _ReplyTransport(self)  # type: ignore[assignment]  # passes for what it wraps

    def on_body(self, body: bytes) -> None:
        """Counts anew behind each piece of a body."""
        self._without_end = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Is idle until the next request."""
        super().on_response_complete()
        if not self.pipeline:
            self.idle_since = self.loop.time()

    def pause_writing(self) -> None:
        """Begins to watch whether the caller reads."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Has what is to be sent sent on."""
        super().resume_writing()
        self._stop_watching()

    def close_after_reply(self) -> None:
        """Closes the connection; if more of a request was to come, once its caller may have read the reply."""
        if self.cycle is not None and self.cycle.more_body:
            self._close_once_read()
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn names it
        """Refuses what is no HTTP in the one shape of errors."""
        self._refuse(400, "malformed_http", "This is no HTTP request: send one.")

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _read(self, piece: bytes) -> None:
        self._without_end += len(piece)
        super().data_received(piece)
        if self._without_end > HEAD_BYTES:
            self._refuse(
                431,
                "head_too_large",
                f"The head of the request has more than {HEAD_BYTES:,} bytes: send shorter headers.",
            )

    def _make_room(self) -> None:
        """Closes the connection that has been idle for longest; if all are in use, this one is refused."""
        longest: BoundedHttp | None = None
        since = self.loop.time()
        for each in self.connections:
            if not isinstance(each, BoundedHttp) or each is self:
                continue
            if each.idle_since is not None and each.idle_since <= since:
                longest, since = each, each.idle_since
        if longest is None:
            self._is_one_too_many = True
            return
        longest.idle_since = None
        self.connections.discard(longest)
        longest.transport.close()

    def _refuse(
        self, status: int, code: str, message: str, header: bytes = b""
    ) -> None:
        """Answers without the app, and closes the connection once its caller may have read that."""
        self._is_refused = True
        # A reply under way cannot be taken back, and nothing can be said within it.
        if self._is_answering:
            self.transport.close()
            return
        body = msgspec.json.encode(error_body(code, message))
        self.transport.write(
            STATUS_LINE[status]
            + b"content-type: application/json\r\nx-content-type-options: nosniff\r\ncache-control: no-store\r\n"
            + header
            + b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
            + body
        )
        self._close_once_read()

    def _close_once_read(self) -> None:
        """Sends no more, passes over whatever still comes, and closes when the caller does or `LINGER_S` is over."""
        self._is_refused = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(LINGER_S, self.transport.close)

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEAD_S, self.transport.close)

    def _stop_expecting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _watch_reader(self) -> None:
        self._stop_watching()
        self._waiting_bytes = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(READ_S, self._check_reader)

    def _check_reader(self) -> None:
        read = self._waiting_bytes - self.transport.get_write_buffer_size()
        if read < LEAST_READ_BYTES:
            self.transport.abort()
        else:
            self._watch_reader()

    def _stop_watching(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None


class _ReplyTransport:
    """The transport of one reply; uvicorn closes it behind the reply, which then is lost with what was not read."""

    def __init__(self, connection: BoundedHttp) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection.transport, name)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close_after_reply()


def connections_within(most: int) -> int:
    """Raises the process's limit of open handles to what so many connections need; returns how many it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + HANDLES_BESIDE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        soft = max(soft, wanted)
    if soft == resource.RLIM_INFINITY:
        return most
    # A tiny limit must leave some: each connection needs one handle.
    return max(min(most, soft - HANDLES_BESIDE), min(most, soft // 2))
