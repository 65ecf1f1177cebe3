"""Queries that were claimed too often: found by the server's advisories, which a stream holds, and listed for days."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    RawStreamMsg,
    StorageType,
    StreamConfig,
)
from nats.js.errors import BadRequestError, NotFoundError

from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.queue_ports import DeadQuery, QueuedQuery
from antiphon.cluster.streams import token
from antiphon.vocabulary.typed import prepared

LISTED_S = 14 * 86_400.0
"""Seconds for which the list holds a query that was given up; its trace stays as long as any other."""
_SWEEPER = "sweeper"
PULL = json.dumps({"batch": 1, "no_wait": True}).encode()


class _Advisory(msgspec.Struct, frozen=True, kw_only=True):
    """The part that we read of the server's advisory about a message that it delivers no more."""

    stream_seq: int
    deliveries: int = 0


@dataclass(frozen=True)
class JetStreamDeadClaim:
    """A query to give up."""

    query: QueuedQuery
    deliveries: int
    cluster: Cluster
    seq: int
    reply: str

    async def bury(self) -> None:
        """Puts the query into the list of dead queries, and takes it out of the queue."""
        dead = DeadQuery(
            query_id=self.query.query_id,
            tenant=self.query.tenant,
            deliveries=self.deliveries,
            at=time.time(),
        )
        await self.cluster.jetstream.publish(
            f"{self.cluster.naming.prefix}.dead.{token(self.query.query_id)}",
            msgspec.json.encode(dead),
        )
        # The process that ended the query may have taken it out already.
        with contextlib.suppress(NotFoundError, BadRequestError):
            await self.cluster.jetstream.delete_msg(
                self.cluster.naming.queries_stream, self.seq
            )
        await self.cluster.client.request(self.reply, b"+ACK", timeout=REQUEST_S)


class DeadLetters:
    """The advisories of one installation's queue, and its list of dead queries."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        naming = cluster.naming
        self._stream = f"{naming.prefix.upper()}_DEAD"
        self._advisories = (
            "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES."
            f"{cluster.naming.queries_stream}.*"
        )
        self._list = f"{naming.prefix}.dead.*"

    async def declare(self) -> None:
        """Makes the stream and the consumer of its advisories, or brings them up to date."""
        config = StreamConfig(
            name=self._stream,
            subjects=[self._advisories, self._list],
            storage=StorageType.FILE,
            num_replicas=self._cluster.replicas,
            max_age=LISTED_S,
            max_msgs=100_000,
        )
        try:
            await self._cluster.jetstream.add_stream(config)
        # It exists with other settings.
        except BadRequestError:
            await self._cluster.jetstream.update_stream(config)
        await self._cluster.jetstream.add_consumer(
            self._stream,
            ConsumerConfig(
                name=_SWEEPER,
                durable_name=_SWEEPER,
                filter_subject=self._advisories,
                ack_policy=AckPolicy.EXPLICIT,
                # A sweeper that dies leaves its query to the next one.
                ack_wait=30.0,
            ),
        )

    async def next(self) -> JetStreamDeadClaim | None:
        """Returns a query that the server delivers no more; None if there is none."""
        # In the old style, with a subscription of its own: an advisory arrives under the subject under which it was
        # stored, by which the client could not match it with its request (as in claiming.py).
        message = await self._cluster.client.request(
            f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{_SWEEPER}",
            PULL,
            timeout=REQUEST_S,
            old_style=True,
        )
        if not message.reply:
            return None
        advisory = msgspec.json.decode(message.data, type=prepared(_Advisory))
        try:
            found = await self._cluster.jetstream.get_msg(
                self._cluster.naming.queries_stream, seq=advisory.stream_seq
            )
            query = msgspec.json.decode(found.data or b"", type=prepared(QueuedQuery))
        # The query is over after all, or the message was never one of ours.
        except (NotFoundError, msgspec.DecodeError):
            await self._cluster.client.publish(message.reply, b"+ACK")
            return None
        return JetStreamDeadClaim(
            query,
            advisory.deliveries,
            self._cluster,
            advisory.stream_seq,
            message.reply,
        )

    async def listed(self, limit: int) -> Sequence[DeadQuery]:
        """Returns the newest dead queries, the newest first."""
        found: list[DeadQuery] = []
        info = await self._cluster.jetstream.stream_info(self._stream)
        seq = info.state.first_seq
        while seq <= info.state.last_seq:
            message = await self._next_listed(seq)
            if message is None or message.seq is None:
                break
            found.append(
                msgspec.json.decode(message.data or b"", type=prepared(DeadQuery))
            )
            seq = message.seq + 1
        found.reverse()
        return found[:limit]

    async def count(self) -> int:
        """Returns the number of listed queries: each has its own subject."""
        info = await self._cluster.jetstream.stream_info(
            self._stream, subjects_filter=self._list
        )
        return len(info.state.subjects or {})

    async def _next_listed(self, seq: int) -> RawStreamMsg | None:
        try:
            return await self._cluster.jetstream.get_msg(
                self._stream, seq=seq, subject=self._list, next=True
            )
        except NotFoundError:
            return None
