"""The queue of queries, as a JetStream work queue: one message for each query, one durable consumer for each lane."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence

import msgspec
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, RawStreamMsg
from nats.js.errors import APIError, NotFoundError

from antiphon.cluster.claiming import (
    Claims,
    JetStreamClaim,
    durable,
    nudge,
    nudges,
)
from antiphon.cluster.connection import Cluster
from antiphon.cluster.dead_letters import DeadLetters, JetStreamDeadClaim
from antiphon.cluster.queue_ports import DeadQuery, QueuedQuery, QueueState
from antiphon.cluster.reach import Reach, reached
from antiphon.cluster.streams import LANES, lane_of
from antiphon.vocabulary.errors import QueueFullError

CLAIM_S = 10.0
"""Seconds for which a claim lasts unless it is renewed: after this time another worker takes a dead worker's query."""
MOST_CLAIMS = 5
LOOK_SHARE = 0.1
"""Share of a claim's time after which a worker looks at all lanes again, for queries whose workers have died."""
MOST_CLAIMED = 100_000
"""Queries of one lane that all workers together may have at once."""
_FULL = 10077
"""The server's code for a message that exceeds the limit of the stream or of its subject."""


class JetStreamQueue:
    """The queue of one installation, as one process uses it; `open` makes it."""

    def __init__(self, cluster: Cluster, claim_s: float, most_claims: int) -> None:
        self._cluster = cluster
        self._claim_s = claim_s
        self._most_claims = most_claims
        self._stream = cluster.naming.queries_stream
        self._claims = Claims(cluster, claim_s, most_claims, self.submit)
        self._dead_letters = DeadLetters(cluster)
        self._reach = Reach(cluster, (self._stream, cluster.naming.traces_stream))
        # The lane to ask first: lanes take turns, so that none is always served before the others.
        self._turn = 0
        # The lanes that may hold a query for this process: asking an empty lane costs as much as asking any other.
        self._promising = set(range(LANES))
        self._look_at = 0.0
        self._nudged = asyncio.Event()

    @classmethod
    async def open(
        cls,
        cluster: Cluster,
        claim_s: float = CLAIM_S,
        most_claims: int = MOST_CLAIMS,
    ) -> JetStreamQueue:
        """Declares the consumers, and brings those that exist up to date.

        Args:
            claim_s: The seconds for which a claim lasts; must be the same in all processes, like `most_claims`.
            most_claims: Claims of one query after which it is dead.

        Raises:
            BusyError: The servers cannot be reached.
        """
        queue = cls(cluster, claim_s, most_claims)
        await reached(queue._declare())
        return queue

    async def _declare(self) -> None:
        for lane in range(LANES):
            await self._cluster.jetstream.add_consumer(
                self._stream,
                ConsumerConfig(
                    name=durable(lane),
                    durable_name=durable(lane),
                    filter_subject=f"{self._cluster.naming.lane(lane)}.>",
                    ack_policy=AckPolicy.EXPLICIT,
                    ack_wait=self._claim_s,
                    max_deliver=self._most_claims,
                    max_ack_pending=MOST_CLAIMED,
                ),
            )
        await self._dead_letters.declare()
        subject = nudges(self._cluster)
        await self._cluster.client.subscribe(subject, cb=self._on_nudge)

    @property
    def trouble(self) -> str | None:
        return self._reach.trouble

    async def watch(self) -> None:
        await self._reach.watch()

    def lane_of(self, tenant: str) -> int:
        return lane_of(tenant)

    async def submit(self, query: QueuedQuery) -> None:
        await reached(self._submit(query))

    async def _submit(self, query: QueuedQuery) -> None:
        subject = self._subject(query)
        try:
            await self._cluster.jetstream.publish(subject, msgspec.json.encode(query))
        except APIError as error:
            if error.err_code != _FULL:
                raise
            # A subject holds one message: this is the second submission of the same query, unless the queue is full.
            if not await self.holds(query):
                raise QueueFullError(
                    "The queue of questions is full: ask again in a moment.", 5.0
                ) from error
        await nudge(self._cluster, query)

    async def claim(self, wait_s: float) -> JetStreamClaim | None:
        now = time.monotonic()
        # A query whose worker has died comes back without a nudge, so now and then every lane is worth a look.
        if now >= self._look_at:
            self._promising = set(range(LANES))
            self._look_at = now + self._claim_s * LOOK_SHARE
        # Cleared before the look, not after it: otherwise a nudge that comes in between would be lost.
        self._nudged.clear()
        for _ in range(LANES):
            lane = self._turn
            self._turn = (lane + 1) % LANES
            if lane not in self._promising:
                continue
            self._promising.discard(lane)
            claim = await reached(self._claims.claim_in(lane))
            if claim is not None:
                if not claim.is_last:
                    self._promising.add(lane)
                return claim
        with contextlib.suppress(TimeoutError):
            most_s = max(0.0, self._look_at - time.monotonic())
            await asyncio.wait_for(self._nudged.wait(), min(wait_s, most_s))
        return None

    async def holds(self, query: QueuedQuery) -> bool:
        return await reached(self._last(query)) is not None

    async def remove(self, query: QueuedQuery) -> None:
        await reached(
            self._cluster.jetstream.purge_stream(
                self._stream, subject=self._subject(query)
            )
        )

    async def state(self) -> QueueState:
        return await reached(self._state())

    async def _state(self) -> QueueState:
        # All lanes in one request: while questions come, this runs several times a second.
        consumers = await self._cluster.jetstream.consumers_info(self._stream)
        found = {info.name: info for info in consumers}
        lanes = [0] * LANES
        claimed = 0
        oldest_s = 0.0
        for lane in range(LANES):
            info = found.get(durable(lane))
            if info is None:
                continue
            lanes[lane] = info.num_pending or 0
            claimed += info.num_ack_pending or 0
            if lanes[lane] and info.delivered is not None:
                age_s = await self._age_of_next(lane, info.delivered.stream_seq)
                oldest_s = max(oldest_s, age_s)
        return QueueState(
            waiting=sum(lanes), claimed=claimed, oldest_s=oldest_s, lanes=tuple(lanes)
        )

    async def _age_of_next(self, lane: int, after: int) -> float:
        """Returns the seconds for which the first unclaimed query of a lane has waited."""
        try:
            message = await self._cluster.jetstream.get_msg(
                self._stream,
                seq=after + 1,
                subject=f"{self._cluster.naming.lane(lane)}.>",
                next=True,
            )
        # A worker has claimed it meanwhile.
        except NotFoundError:
            return 0.0
        if message.time is None:
            return 0.0
        return max(0.0, time.time() - message.time.timestamp())

    async def next_dead(self) -> JetStreamDeadClaim | None:
        return await reached(self._dead_letters.next())

    async def dead(self, limit: int = 100) -> Sequence[DeadQuery]:
        return await reached(self._dead_letters.listed(limit))

    async def count_dead(self) -> int:
        return await reached(self._dead_letters.count())

    async def _last(self, query: QueuedQuery) -> RawStreamMsg | None:
        try:
            return await self._cluster.jetstream.get_msg(
                self._stream, subject=self._subject(query)
            )
        except NotFoundError:
            return None

    def _subject(self, query: QueuedQuery) -> str:
        return self._cluster.naming.query(query.tenant, query.query_id)

    async def _on_nudge(self, message: Msg) -> None:
        lane = message.data.decode("ascii", "replace")
        if lane.isdecimal() and int(lane) < LANES:
            self._promising.add(int(lane))
            self._nudged.set()
