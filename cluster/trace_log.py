"""Traces in the stream: appends, which only the owner of a trace can make, and reads."""

from __future__ import annotations

import itertools
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from msgspec.structs import replace
from nats.js.errors import APIError

from antiphon.cluster.blobs import Blobs
from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.ends import tell_end
from antiphon.cluster.erasing import erase
from antiphon.cluster.messages import (
    APPEND_ID,
    PAYLOAD,
    Packed,
    beginning_headers,
    is_closed,
    pack,
    seqs_of,
)
from antiphon.cluster.stream_reading import (
    StoredMessage,
    StreamReader,
    as_trace_errors,
)
from antiphon.cluster.streams import MOST_ID_BYTES, is_nameable
from antiphon.cluster.tails import Batch, Tail, Tails, tail_at
from antiphon.cluster.trace_ports import TraceHead
from antiphon.traces import Packer, Redaction, unknown_trace
from antiphon.vocabulary.errors import (
    DecodeError,
    SequenceError,
    SupersededError,
    TraceError,
)
from antiphon.vocabulary.events import Event, QueryClosed, Recorded

EXPECTED = "Nats-Expected-Last-Subject-Sequence"
CONFLICTS = (10071, 10164)
"""JetStream's codes if another message came first, and if one is still on its way to the other servers."""
WITHOUT_ROOM = (10002, 10023, 10047, 10077)
"""JetStream's codes if the account, the servers or the stream may hold no more, or the disk is full."""


class TraceLog:
    """Appends to traces and reads them.

    Args:
        redaction: Applied to every event, as in the one-machine store.
    """

    def __init__(self, cluster: Cluster, redaction: Redaction, blobs: Blobs) -> None:
        self._cluster = cluster
        self._naming = cluster.naming
        self._redaction = redaction
        self._blobs = blobs
        self._packer = Packer()
        self._reader = StreamReader(cluster, cluster.naming.traces_stream)
        self._tails = Tails()
        # Unique to this store, so that no other store's append is taken for one of its own.
        self._writer = uuid.uuid4().hex
        self._numbers = itertools.count(1)

    async def append(self, batch: Batch) -> None:
        """Stores a batch as one message.

        Raises:
            SupersededError: Another writer went on with the trace, or it was deleted.
            SequenceError: The trace does not end at the `seq` that the batch expects.
            TraceError: The servers do not answer, and the outcome is unknown; the same batch may be appended again.
        """
        _check_id(batch.query_id)
        tail = await self._tail_of(batch)
        async with tail.lock:
            if batch.expected_seq != tail.caller_seq:
                self._check_owner(batch, tail.seq)
            events = self._redacted(batch.events)
            packed: Packed | None = None
            # An append of unknown outcome that did land may hold some of them.
            while left := [each for each in events if each.seq > tail.seq]:
                packed = await self._append(tail, batch, left)
            tail.caller_seq = tail.seq
        if isinstance(events[-1].event, QueryClosed):
            self.forget(batch.query_id)
            await tell_end(self._cluster, batch.query_id, packed)

    async def read(self, query_id: str) -> list[StoredMessage]:
        """Reads all messages of a trace.

        Raises:
            NotFoundError: No such trace.
            TraceError: The servers do not answer.
        """
        return await self.up_to(query_id, await self.last(query_id))

    async def up_to(self, query_id: str, last: StoredMessage) -> list[StoredMessage]:
        """Reads the messages of a trace up to its last one, which is known already. Raises as `read` does."""
        if seqs_of(last)[0] == 1:
            return [last]
        subject = self._naming.trace(query_id)
        messages = [
            message async for message in self._reader.between(subject, 1, last.seq)
        ]
        # The trace may have been deleted meanwhile.
        if not messages:
            raise unknown_trace(query_id)
        return messages

    async def last(self, query_id: str) -> StoredMessage:
        """Reads a trace's last message. Raises as `read` does."""
        _check_may_be_there(query_id)
        last = await self._reader.last(self._naming.trace(query_id))
        if last is None:
            raise unknown_trace(query_id)
        return last

    async def first(self, query_id: str) -> StoredMessage:
        """Reads a trace's first message. Raises as `read` does."""
        _check_may_be_there(query_id)
        first = await self._reader.next(self._naming.trace(query_id), 1)
        if first is None:
            raise unknown_trace(query_id)
        return first

    async def head(self, query_id: str) -> TraceHead:
        """Reads the end of a trace. Raises as `read` does."""
        last = await self.last(query_id)
        return TraceHead(seqs_of(last)[1], is_closed(last), last.at)

    async def data_of(self, message: StoredMessage, query_id: str) -> bytes:
        """Returns a message's payload, even if it was too large for a message and is stored apart.

        Raises:
            DecodeError: The payload is missing.
            TraceError: The servers do not answer.
        """
        key = message.headers.get(PAYLOAD)
        if key is None:
            return message.data
        found = await self._blobs.get(query_id, [key])
        if key not in found:
            raise DecodeError(f"trace {query_id}: the text {key} is missing")
        return found[key]

    def remember(self, query_id: str, last: StoredMessage) -> None:
        """Remembers the end of a trace: the server refuses this process's next append if anybody appends before it."""
        self._tails.put(query_id, tail_at(last))

    def writes(self, query_id: str) -> bool:
        """Returns True if this process works on a trace: it has appended more than the beginning.

        A process that leaves the query to others appends only that.
        """
        tail = self._tails.get(query_id)
        return tail is not None and tail.seq > 1

    def forget(self, query_id: str) -> None:
        """Forgets the end of a trace."""
        self._tails.forget(query_id)

    async def delete(self, query_id: str) -> None:
        """Deletes a trace.

        Raises:
            TraceError: The servers do not answer.
        """
        subject = self._naming.trace(query_id)
        await erase(self._cluster, self._naming.traces_stream, subject)
        # After the trace: a writer that then finds it gone deletes the texts that it has stored meanwhile.
        await self._blobs.delete(query_id)
        self.forget(query_id)

    async def _tail_of(self, batch: Batch) -> Tail:
        tail = self._tails.get(batch.query_id)
        # The remembered end is older than what the caller has read: another process has appended meanwhile.
        if tail is not None and batch.expected_seq > tail.seq:
            self.forget(batch.query_id)
            tail = None
        if tail is None and batch.expected_seq == 0:
            tail = self._tails.add(batch.query_id, Tail())
        elif tail is None:
            last = await self._reader.last(self._naming.trace(batch.query_id))
            if last is None:
                raise SupersededError(batch.query_id, batch.expected_seq, 0)
            tail = self._tails.add(batch.query_id, tail_at(last))
            self._check_owner(batch, tail.seq)
        return tail

    def _redacted(self, events: Sequence[Recorded[Event]]) -> Sequence[Recorded[Event]]:
        return [
            replace(each, event=self._redaction.event(each.event)) for each in events
        ]

    async def _append(
        self, tail: Tail, batch: Batch, events: Sequence[Recorded[Event]]
    ) -> Packed:
        """Sends one message, and finds out why if the server refuses it; returns the append."""
        packed = pack(
            self._packer,
            batch.query_id,
            events,
            tail.texts,
            self._cluster.client.max_payload,
        )
        with self._noting_room():
            await self._blobs.put(batch.query_id, packed.blobs)
        append_id = f"{self._writer}.{next(self._numbers)}"
        headers = packed.headers | {APPEND_ID: append_id, EXPECTED: str(tail.place)}
        if tail.place == 0:
            headers |= beginning_headers(batch.tenant, imported=batch.imported)
        tail.in_doubt[append_id] = events
        try:
            with self._noting_room(), as_trace_errors("store events"):
                stored = await self._cluster.jetstream.publish(
                    self._naming.trace(batch.query_id),
                    packed.data,
                    timeout=REQUEST_S,
                    headers=headers,
                )
        except TraceError as error:
            # The append stays in doubt: one leader may refuse a message that another has stored, if both believe for a
            # moment that they lead.
            if _code_of(error) in CONFLICTS:
                await self._settle(tail, batch, events)
                return packed
            raise
        tail.moved_to(stored.seq, events[-1].seq)
        tail.texts |= packed.keys
        return packed

    @contextmanager
    def _noting_room(self) -> Iterator[None]:
        """Notes for this process if the servers refuse data for want of room, or take it again."""
        room = self._cluster.room
        try:
            yield
        except TraceError as error:
            if _code_of(error) in WITHOUT_ROOM:
                room.failed(time.monotonic())
            raise
        if room.value.is_open:
            room.succeeded()

    async def _settle(
        self, tail: Tail, batch: Batch, events: Sequence[Recorded[Event]]
    ) -> None:
        """Finds out why the server refused an append; returns if the cause is an earlier one of ours that did land.

        Raises:
            SequenceError: Another writer goes on with the trace.
            TraceError: One of ours is still on its way, or the servers do not show yet what they have stored.
        """
        last = await self._reader.last(self._naming.trace(batch.query_id))
        if last is None:
            await self._blobs.delete(batch.query_id)
            self.forget(batch.query_id)
            raise SupersededError(batch.query_id, batch.expected_seq, 0)
        sent = tail.in_doubt.get(last.headers.get(APPEND_ID, ""))
        if sent is not None and list(sent) == list(events[: len(sent)]):
            tail.moved_to(last.seq, sent[-1].seq)
            # Nobody remembers which texts it carried, so the next message that uses them carries them again.
            return
        found_seq = seqs_of(last)[1]
        if found_seq < batch.expected_seq:
            # A newly elected leader has not yet applied everything that its predecessor acknowledged. A writer that
            # forgot its appends now would later take one of its own, which did land, for another writer's.
            raise TraceError(
                f"NATS does not show all of trace {batch.query_id} yet that it has stored; the append is tried again"
            )
        if found_seq in (tail.seq, batch.expected_seq):
            # The trace holds nothing unknown: a message is on its way, or the stream was restored from a backup.
            tail.place, tail.seq = last.seq, found_seq
            raise TraceError(
                f"an append to trace {batch.query_id} is still under way on NATS; it is tried again"
            )
        self._check_owner(batch, found_seq)

    def _check_owner(self, batch: Batch, found_seq: int) -> None:
        """Refuses to append to a trace that does not end at the `seq` that the caller expects."""
        if found_seq == batch.expected_seq:
            return
        self.forget(batch.query_id)
        # A writer that finds more than its own appends has been replaced; one that only begins finds the id in use.
        if 0 < batch.expected_seq < found_seq:
            raise SupersededError(batch.query_id, batch.expected_seq, found_seq)
        raise SequenceError(batch.query_id, batch.expected_seq, found_seq)


def _code_of(error: TraceError) -> int | None:
    """Returns the code of the server's refusal; None if it did not answer."""
    if isinstance(error.__cause__, APIError):
        return error.__cause__.err_code
    return None


def _check_id(query_id: str) -> None:
    if not is_nameable(query_id):
        raise TraceError(
            f"the trace cannot be stored: its id has more than {MOST_ID_BYTES} bytes, or is no text"
        )


def _check_may_be_there(query_id: str) -> None:
    if not is_nameable(query_id):
        raise unknown_trace(query_id)
