"""Bounds for one connection: the size and delay of a request's head, and how slowly its caller may read."""

from __future__ import annotations

import asyncio
import resource
import socket
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from antiphon.api.errors import error_body

HEAD_S = 10.0
"""Seconds in which the head of a request must come: one that never comes would hold its connection for ever."""
HEAD_BYTES = 65_536
"""The most bytes of a head, and of anything between two pieces of a body or after it."""
READ_S = 30.0
LEAST_READ_BYTES = 16_384
"""Bytes that a caller must read within `READ_S` if as many wait: replies to a caller who reads nothing take memory."""
SEND_BUFFER_BYTES = 131_072
"""Bytes of a reply that the system may buffer; by default it takes megabytes for each connection."""
LINGER_S = 1.0
"""Seconds that a refused caller gets to read the reason: closing a connection with unread input discards the reply."""
HANDLES_BESIDE = 512
"""Handles that the process needs besides those of its callers: files, the index, the model's server."""
_PIECE = 4_096


class BoundedHttp(HttpToolsProtocol):
    """uvicorn's protocol with bounds: by itself it waits for ever, and buffers everything that comes.

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
        """Accepts a connection."""
        super().connection_made(transport)
        connected = transport.get_extra_info("socket")
        if connected is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        self.idle_since = self.loop.time()
        self._expect_head()
        if len(self.connections) > self._most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Reads new data piece by piece."""
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
        # A request under way has its whole head already; data between two requests begins the next head.
        if self._is_answering:
            self._stop_expecting()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancels the timers."""
        self._stop_expecting()
        self._stop_watching()
        # Breaks the reference cycle of reply and connection, which only the garbage collector would free.
        if self.cycle is not None:
            self.cycle.transport = self.transport
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        """Starts to count the bytes of a head."""
        self._without_end = 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Starts to count bytes outside the body, and has the reply close the connection in our way."""
        self._without_end = 0
        super().on_headers_complete()
        if self.cycle is not None:
            self.cycle.transport = _ReplyTransport(self)  # type: ignore[assignment]  # passes for what it wraps

    def on_body(self, body: bytes) -> None:
        """Restarts the count after each piece of a body."""
        self._without_end = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        """Marks the connection as idle until the next request."""
        super().on_response_complete()
        if not self.pipeline:
            self.idle_since = self.loop.time()

    def pause_writing(self) -> None:
        """Starts to check that the caller reads."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Stops that check: the caller has read enough."""
        super().resume_writing()
        self._stop_watching()

    def close_after_reply(self) -> None:
        """Closes the connection; if the request is not complete, only once its caller may have read the reply."""
        if self.cycle is not None and self.cycle.more_body:
            self._close_once_read()
        else:
            self.transport.close()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn names it
        """Refuses data that is not HTTP, in the one shape of errors."""
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
        """Closes the connection that has been idle for longest; if all are in use, marks this one for refusal."""
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
        """Answers without the app, and closes the connection once its caller may have read the answer."""
        self._is_refused = True
        # A reply under way cannot be taken back, and an error cannot be sent within it.
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
        """Sends and reads no more, and closes the connection when the caller does or `LINGER_S` is over."""
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
    """The transport of one reply. uvicorn closes it right after the reply, which unread input would then discard."""

    def __init__(self, connection: BoundedHttp) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection.transport, name)

    def close(self) -> None:
        """Closes the connection."""
        self._connection.close_after_reply()


def connections_within(most: int) -> int:
    """Raises the process's limit of open handles for so many connections; returns how many of them it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + HANDLES_BESIDE
    if soft != resource.RLIM_INFINITY and soft < wanted:
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
        soft = max(soft, wanted)
    if soft == resource.RLIM_INFINITY:
        return most
    # Even a tiny limit leaves half of its handles to connections, each of which needs one.
    return max(min(most, soft - HANDLES_BESIDE), min(most, soft // 2))
