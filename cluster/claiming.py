"""Claims of queries: how a process gets one from a lane, keeps it, and gives it back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

import msgspec
import structlog
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.js.api import Header

from antiphon.cluster.client import NO_RESPONDERS, REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.dead_letters import PULL
from antiphon.cluster.queue_ports import QueuedQuery
from antiphon.cluster.reach import reached
from antiphon.cluster.streams import lane_of
from antiphon.vocabulary.typed import prepared

log = structlog.get_logger(__name__)

Submit = Callable[[QueuedQuery], Awaitable[None]]


class Claims:
    """Asks lanes for queries, one at a time.

    The client's own requests do not serve for that: a query arrives under the subject under which it was stored, and
    not under the one by which the client tells answers apart. So all answers come over one subscription, which lasts
    until an answer is missing.

    Args:
        claim_s: The seconds for which a claim lasts.
        most_claims: The claims of one query after which it is not delivered any more.
        submit: Puts a query into the queue.
    """

    def __init__(
        self, cluster: Cluster, claim_s: float, most_claims: int, submit: Submit
    ) -> None:
        self._cluster = cluster
        self._claim_s = claim_s
        self._most_claims = most_claims
        self._submit = submit
        self._stream = cluster.naming.queries_stream
        self._inbox: Subscription | None = None
        self._answer: asyncio.Future[Msg] | None = None
        self._lock = asyncio.Lock()

    async def claim_in(self, lane: int) -> JetStreamClaim | None:
        """Returns a query of a lane; None if none waits there."""
        async with self._lock:
            try:
                message = await self._asked(lane)
            except BaseException:
                # The answer may still come, and must not be taken for the next one.
                await self._leave_inbox()
                raise
        if not message.reply:
            return None
        query = query_in(message.data)
        if query is None:
            # This program did not write it. Without the order to end it, the server would deliver it again and again.
            await self._cluster.client.publish(message.reply, b"+TERM")
            return None
        return JetStreamClaim(self, message, query)

    async def pass_on(self, claim: JetStreamClaim, delay_s: float) -> None:
        """Gives a query back so that it comes again, no matter how often that happens."""
        if claim.deliveries == 1 < self._most_claims:
            await claim.give_back(delay_s)
            return
        # A further claim would count against the query, so it leaves the queue and enters it again with a new count.
        # If this process dies in between, the sweep finds an open trace that is in no queue.
        await claim.done()
        await self._submit(claim.query)

    async def _asked(self, lane: int) -> Msg:
        client = self._cluster.client
        if self._inbox is None:
            self._inbox = await client.subscribe(client.new_inbox(), cb=self._hear)
        self._answer = asyncio.get_running_loop().create_future()
        await client.publish(
            f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{durable(lane)}",
            PULL,
            reply=self._inbox.subject,
        )
        async with asyncio.timeout(REQUEST_S):
            message = await self._answer
        if (message.headers or {}).get(Header.STATUS) == NO_RESPONDERS:
            raise NoRespondersError
        return message

    async def _hear(self, message: Msg) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    async def _leave_inbox(self) -> None:
        inbox, self._inbox = self._inbox, None
        if inbox is None:
            return
        try:
            await inbox.unsubscribe()
        except NatsError as error:
            log.debug("nats_not_unsubscribed", error=str(error))


class JetStreamClaim:
    """A query of the queue that this process works on."""

    def __init__(self, claims: Claims, message: Msg, query: QueuedQuery) -> None:
        self.query = query
        self.deliveries = message.metadata.num_delivered
        self.lasts_s = claims._claim_s
        self._claims = claims
        self._cluster = claims._cluster
        self._message = message

    @property
    def is_last(self) -> bool:
        """True if nothing else waited in its lane; the server delivers queries of dead workers before waiting ones."""
        return self.deliveries == 1 and not self._message.metadata.num_pending

    async def keep(self) -> None:
        await self._answer(b"+WPI")

    async def done(self) -> None:
        await self._answer(b"+ACK")

    async def give_back(self, delay_s: float = 0.0) -> None:
        how = b"-NAK"
        if delay_s:
            how += json.dumps({"delay": int(delay_s * 1e9)}).encode()
        await self._answer(how)
        if not delay_s:
            await nudge(self._cluster, self.query)

    async def pass_on(self, delay_s: float) -> None:
        await self._claims.pass_on(self, delay_s)

    async def _answer(self, how: bytes) -> None:
        # A request, because the server's answer shows that it got through.
        await reached(
            self._cluster.client.request(
                self._message.reply, how, timeout=self.lasts_s / 3
            )
        )


async def nudge(cluster: Cluster, query: QueuedQuery) -> None:
    """Tells all workers in which lane a query waits."""
    lane = lane_of(query.tenant)
    await reached(cluster.client.publish(nudges(cluster), b"%d" % lane))


def nudges(cluster: Cluster) -> str:
    """Returns the subject of nudges."""
    return f"{cluster.naming.prefix}.nudge"


def query_in(data: bytes) -> QueuedQuery | None:
    """Returns the query in a message of the queue; None if it holds none."""
    try:
        return msgspec.json.decode(data, type=prepared(QueuedQuery))
    except msgspec.DecodeError as error:
        log.warning("queue_message_not_read", error=str(error)[:200])
        return None


def durable(lane: int) -> str:
    """Returns the name of a lane's consumer."""
    return f"lane-{lane}"
