"""Reads messages of a stream by subject: the last one from the leader, or many at once from any server."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple

import msgspec
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.errors import APIError

from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.typed import prepared

_AT_ONCE = 500
"""Messages that one request asks for; servers before 2.11 answer with one."""
_AT_ONCE_BYTES = 4_000_000
ANY_S = 1.0
"""Seconds to wait for an answer from any server: a server that was cut off or has frozen still gets its share of the
requests from the others, for a minute or more."""
LEADER_ALONE_S = 10.0
"""Seconds after such a wait in which a reader asks only the leader, message by message."""


class StoredMessage(NamedTuple):
    """A message of a stream.

    Attributes:
        seq: Its place in the stream.
        at: The time at which it was stored, in seconds since the epoch, by the server's clock.
    """

    subject: str
    seq: int
    headers: Mapping[str, str]
    data: bytes
    at: float


class StreamState(NamedTuple):
    """The state of a stream.

    Attributes:
        incarnation: Identifies the stream; it differs after the stream was deleted and made again.
        last_seq: The place of the last message that it ever took.
        messages: The number of messages that it holds.
    """

    incarnation: str
    last_seq: int
    messages: int
    size_bytes: int


@contextmanager
def as_trace_errors(wanted: str) -> Iterator[None]:
    """Turns errors of NATS into errors of ours.

    Raises:
        TraceError: The servers refused, or did not answer in time.
    """
    try:
        yield
    except (NatsError, TimeoutError, OSError) as error:
        raise TraceError(
            f"NATS could not {wanted}: {str(error) or type(error).__name__}"
        ) from error


class StreamReader:
    """Reads one stream."""

    def __init__(self, cluster: Cluster, stream: str) -> None:
        self._cluster = cluster
        self._stream = stream
        self._leader_until = 0.0

    async def state(self) -> StreamState:
        """Asks the leader for the stream's state.

        Raises:
            TraceError: The leader does not answer.
        """
        with as_trace_errors("say what is stored"):
            info = await self._cluster.jetstream.stream_info(self._stream)
        return StreamState(
            f"{self._stream} {info.created}",
            info.state.last_seq,
            info.state.messages,
            info.state.bytes,
        )

    async def subjects(self, subject: str) -> dict[str, int]:
        """Returns the subjects that have messages, with the number of each; the leader sends them in pages.

        Raises:
            TraceError: The leader does not answer.
        """
        found: dict[str, int] = {}
        while True:
            wanted = {"subjects_filter": subject, "offset": len(found)}
            with as_trace_errors("list what is stored"):
                answer = await self._cluster.client.request(
                    f"$JS.API.STREAM.INFO.{self._stream}",
                    json.dumps(wanted).encode(),
                    timeout=REQUEST_S,
                )
            told = json.loads(answer.data)
            page = told.get("state", {}).get("subjects") or {}
            found |= page
            if not page or len(found) >= told.get("total", 0):
                return found

    async def last(self, subject: str) -> StoredMessage | None:
        """Asks the leader, which knows every acknowledged message, for the last one of a subject.

        Raises:
            TraceError: The leader does not answer.
        """
        return await self._asked({"last_by_subj": subject})

    async def next(self, subject: str, first_seq: int) -> StoredMessage | None:
        """Asks the leader for a subject's first message from a place on. Raises as `last` does."""
        return await self._asked({"next_by_subj": subject, "seq": first_seq})

    async def _asked(self, wanted: dict[str, object]) -> StoredMessage | None:
        with as_trace_errors("read a message"):
            answer = await self._cluster.client.request(
                f"$JS.API.STREAM.MSG.GET.{self._stream}",
                json.dumps(wanted).encode(),
                timeout=REQUEST_S,
            )
            return _from_leader(answer.data)

    async def between(
        self, subject: str, first_seq: int, last_seq: int
    ) -> AsyncIterator[StoredMessage]:
        """Yields the messages of a subject, which may hold wildcards, from one place to another, in order.

        Raises:
            TraceError: The servers do not answer.
        """
        while first_seq <= last_seq:
            found_any = False
            async for message in self._from_any(subject, first_seq):
                if message.seq > last_seq:
                    return
                found_any = True
                yield message
                first_seq = message.seq + 1
            if found_any:
                continue
            # The server that answered may be behind; a message that the leader does not have either was deleted.
            found = await self.next(subject, first_seq)
            if found is None or found.seq > last_seq:
                return
            yield found
            first_seq = found.seq + 1

    async def _from_any(
        self, subject: str, first_seq: int
    ) -> AsyncIterator[StoredMessage]:
        """Yields a batch from any server; nothing if the chosen one does not answer, and for a while after that."""
        if time.monotonic() < self._leader_until:
            return
        try:
            async for message in self._batch(subject, first_seq):
                yield message
        except NatsTimeoutError:
            self._leader_until = time.monotonic() + LEADER_ALONE_S

    async def _batch(
        self, subject: str, first_seq: int
    ) -> AsyncIterator[StoredMessage]:
        """Yields the messages of one request."""
        client = self._cluster.client
        inbox = client.new_inbox()
        wanted = {
            "next_by_subj": subject,
            "seq": first_seq,
            "batch": _AT_ONCE,
            "max_bytes": _AT_ONCE_BYTES,
        }
        request = f"$JS.API.DIRECT.GET.{self._stream}"
        with as_trace_errors("read messages"):
            subscription = await client.subscribe(inbox)
            await client.publish(request, json.dumps(wanted).encode(), reply=inbox)
        try:
            while True:
                answer = await _answer_to(subscription)
                message = _from_any_server(answer)
                if message is None:
                    return
                yield message
                if "Nats-Num-Pending" not in (answer.headers or {}):
                    return  # a server before 2.11: one message a request
        finally:
            await _end(subscription)


async def _answer_to(subscription: Subscription) -> Msg:
    """Waits for the next answer. Raises TraceError, and NatsTimeoutError if none comes."""
    try:
        return await subscription.next_msg(ANY_S)
    except NatsTimeoutError:
        raise
    except (NatsError, OSError) as error:
        raise TraceError(f"NATS could not read messages: {error}") from error


async def _end(subscription: object) -> None:
    """Ends a subscription, unless the loss of the connection has ended it already."""
    try:
        await subscription.unsubscribe()  # type: ignore[attr-defined]  # its class is not published
    except NatsError:
        return


def _from_any_server(answer: Msg) -> StoredMessage | None:
    """Returns the message in an answer; None at the end of a batch, or if there is none."""
    headers = answer.headers or {}
    # Only messages of the stream have a sequence: anything else is a status.
    if "Nats-Sequence" not in headers:
        return None
    return StoredMessage(
        headers["Nats-Subject"],
        int(headers["Nats-Sequence"]),
        headers,
        answer.data,
        datetime.fromisoformat(headers["Nats-Time-Stamp"]).timestamp(),
    )


class _Found(msgspec.Struct):
    """A message as the leader sends it; headers and data are in Base64."""

    subject: str
    seq: int
    time: datetime
    hdrs: bytes = b""
    data: bytes = b""


class _Answer(msgspec.Struct):
    """The leader's answer: a message, or the reason why there is none."""

    message: _Found | None = None
    error: dict[str, Any] | None = None


# Instead of the client's own method, which parses headers as those of an e-mail: that takes longer than all the rest.
_answer_decoder = msgspec.json.Decoder(prepared(_Answer))


def _from_leader(answer: bytes) -> StoredMessage | None:
    """Returns the message of an answer; None if there is none.

    Raises:
        NatsError: The answer is an error or not valid.
    """
    try:
        told = _answer_decoder.decode(answer)
    except msgspec.DecodeError as error:
        raise NatsError(f"the answer is none: {error}") from error
    if told.error is not None:
        if told.error.get("code") == 404:
            return None
        raise APIError.from_error(told.error)
    if told.message is None:
        raise NatsError("the answer holds no message")
    found = told.message
    headers = _headers_in(found.hdrs)
    at = found.time.timestamp()
    return StoredMessage(found.subject, found.seq, headers, found.data, at)


def _headers_in(block: bytes) -> dict[str, str]:
    """Reads headers in their stored form: a line that names the protocol, then one line for each."""
    headers: dict[str, str] = {}
    for line in block.decode(errors="replace").split("\r\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name] = value.strip()
    return headers
