"""The session's side of a component that acts in another process: finds a process, and keeps count of messages."""

from __future__ import annotations

import asyncio
import secrets
from typing import Protocol

import structlog
from msgspec import Raw
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError, NoRespondersError

from antiphon.cluster import remote_frames as frames
from antiphon.cluster.connection import Cluster
from antiphon.cluster.late_connection import LateConnection
from antiphon.traces import from_json, to_json
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import RemoteError, ServiceError
from antiphon.vocabulary.events import Event, Live, Recorded

log = structlog.get_logger(__name__)

LEASE_S = 5.0
"""Seconds without a sign of life after which a session gives up a process."""
BEATS = 4
"""Signs of life in that time."""
LOOKS = 3
LOOK_S = 0.2
OFFER_S = 1.0
"""Seconds that a process may take to answer a session that looks for one."""


class NoProcessError(RemoteError):
    """No process acts as the component that a session needs."""


class Receiver(Protocol):
    """The session's side of one query. A ServiceError that it raises ends the lease."""

    def take_event(self, recorded: Recorded[Event]) -> None:
        """Takes an event to publish; its `cause` is the event that led to it."""

    def take_live(self, live: Live) -> None:
        """Takes text for live followers."""

    def take_done(self, seq: int, error: str) -> None:
        """Takes the news that all work which that event led to is done."""

    def lost(self) -> None:
        """Takes the news that the lease is over."""


class Lease:
    """One query at one process. It is over once `lost` holds a reason."""

    def __init__(self, client: Client, subject: str, lease_s: float) -> None:
        self.id = secrets.token_hex(8)
        self.lost = ""
        self._client = client
        self._subject = subject
        self._lease_s = lease_s
        self._sent = 0
        self._received = 0
        self._heard_at = asyncio.get_running_loop().time()

    async def perform(
        self, request: Recorded[Event], *, again: bool, followed: bool
    ) -> None:
        """Has a request performed. Raises as `send` does."""
        raw = Raw(to_json(request))
        await self.send(frames.Perform, request=raw, again=again, followed=followed)

    async def abandon(self, seq: int, why: str) -> None:
        """Stops the work that the request of this `seq` led to. Raises as `send` does."""
        await self.send(frames.Abandon, seq=seq, why=why)

    async def recall(self, recorded: Recorded[Event]) -> None:
        """Sends an event of the query's past. Raises as `send` does."""
        await self.send(frames.Recall, recorded=Raw(to_json(recorded)))

    async def alive(self) -> None:
        """Sends a sign of life. Raises as `send` does."""
        await self.send(frames.Alive)

    async def end(self) -> None:
        """Sends the end of the query. Raises as `send` does."""
        await self.send(frames.End)

    async def send(self, kind: type[frames.Frame], **fields: object) -> None:
        """Sends a message.

        Raises:
            RemoteError: The message is larger than the servers take, or they cannot be reached.
        """
        message = kind(lease=self.id, number=self._sent + 1, **fields)
        data = frames.encode(message)
        try:
            await self._client.publish(self._subject, data)
        except MaxPayloadError as error:
            raise RemoteError(
                f"the message `{kind.__struct_config__.tag}` has {len(data):,} bytes, and the NATS servers take "
                f"{self._client.max_payload:,}: raise their max_payload"
            ) from error
        except (NatsError, OSError) as error:
            raise RemoteError(
                f"nothing can be sent ({str(error) or type(error).__name__})"
            ) from error
        # Only now: a message that could not be sent must not leave a gap in the numbers.
        self._sent += 1

    def heard(self, message: frames.Frame) -> bool:
        """Notes a message of the process; returns False if one before it was lost."""
        self._heard_at = asyncio.get_running_loop().time()
        self._received += 1
        if message.number != self._received:
            self.lost = "a message was lost on its way"
        return not self.lost

    def check(self) -> None:
        """Ends the lease if the process gave no sign of life for too long."""
        silent_s = asyncio.get_running_loop().time() - self._heard_at
        if silent_s > self._lease_s and not self.lost:
            self.lost = f"no sign of life for {self._lease_s:g} s"


class RemoteLink:
    """The link of one process's sessions to a component elsewhere; one for each component.

    Args:
        connection: To the servers; made when the first query needs it.
        room: The component, such as `dispatcher`.
        catalog: All events that may come.
        lease_s: Seconds without a sign of life after which a session gives up a process.
    """

    def __init__(
        self,
        connection: LateConnection,
        room: str,
        catalog: Catalog = BUILT_IN,
        lease_s: float = LEASE_S,
    ) -> None:
        self.room = room
        self._catalog = catalog
        self.lease_s = lease_s
        self._connection = connection
        self._lock = asyncio.Lock()
        self._inbox = ""
        self._leases: dict[str, tuple[Lease, Receiver]] = {}

    async def begin(self, place: frames.Place, receiver: Receiver) -> Lease:
        """Finds a process and begins the query there.

        Args:
            receiver: Gets everything that comes back, in the order in which it was sent.

        Raises:
            RemoteError: No process answers, or its answer cannot be used.
            ConfigurationError: NATS cannot be reached.
        """
        cluster = await self._connection.get()
        await self._listen(cluster)
        subject = await self._find_again(cluster)
        lease = Lease(cluster.client, subject, self.lease_s)
        self._leases[lease.id] = (lease, receiver)
        await lease.send(
            frames.Begin, place=place, reply_to=self._inbox, lease_s=self.lease_s
        )
        return lease

    async def close(self) -> None:
        """Closes the connection."""
        await self._connection.close()

    def forget(self, lease: Lease) -> None:
        """Ignores further messages of a lease."""
        self._leases.pop(lease.id, None)

    async def _listen(self, cluster: Cluster) -> None:
        """Subscribes, once for this process, to the messages of acting processes."""
        async with self._lock:
            if not self._inbox:
                inbox = f"{cluster.naming.acting(self.room)}.to.{secrets.token_hex(12)}"
                await cluster.client.subscribe(inbox, cb=self._on_message)
                self._inbox = inbox

    async def _find_again(self, cluster: Cluster) -> str:
        """Does what `_find` does, several times: the only process may just be restarting."""
        for _ in range(LOOKS):
            try:
                return await self._find(cluster)
            except NoProcessError:
                await asyncio.sleep(LOOK_S)
        return await self._find(cluster)

    async def _find(self, cluster: Cluster) -> str:
        """Returns the subject of a process that takes the query."""
        beginning = cluster.naming.acting(self.room)
        try:
            try:
                # The servers choose one process of the queue group. It may be frozen: then the session asks all, and
                # takes the first that answers.
                answer = await cluster.client.request(
                    f"{beginning}.any", b"", timeout=OFFER_S
                )
            except TimeoutError:
                answer = await cluster.client.request(
                    f"{beginning}.all", b"", timeout=OFFER_S
                )
        except NoRespondersError as error:
            raise NoProcessError(
                f"no process acts as {self.room}: start one with `antiphon act {self.room}`"
            ) from error
        except (NatsError, OSError, TimeoutError) as error:
            raise RemoteError(
                f"no process that acts as {self.room} answers ({str(error) or type(error).__name__})"
            ) from error
        # The answer may be hostile: the query must go to a subject of this part, and to no other.
        subject = frames.read_offer(answer.data).subject
        if not subject.startswith(f"{beginning}.at.") or any(
            mark in subject for mark in "*> "
        ):
            raise RemoteError("a process offers itself under a subject that is not its")
        return subject

    async def _on_message(self, message: Msg) -> None:
        try:
            frame = frames.read_to_session(message.data)
        except RemoteError as error:
            log.warning("remote_message_refused", room=self.room, error=str(error))
            return
        found = self._leases.get(frame.lease)
        # For example from a process that was given up and then woke up.
        if found is None:
            return
        lease, receiver = found
        try:
            if lease.heard(frame):
                self._hand_over(frame, receiver)
        except ServiceError as error:
            lease.lost = str(error)
            log.warning("remote_message_refused", room=self.room, error=str(error))
        if lease.lost:
            receiver.lost()

    def _hand_over(self, frame: frames.ToSession, receiver: Receiver) -> None:
        if isinstance(frame, frames.Emitted):
            receiver.take_event(from_json(bytes(frame.recorded), self._catalog))
        elif isinstance(frame, frames.Streamed):
            receiver.take_live(frames.read_live(bytes(frame.live)))
        elif isinstance(frame, frames.Done):
            receiver.take_done(frame.seq, frame.error[: frames.MOST_WORDS])
        elif isinstance(frame, frames.Gone):
            raise RemoteError(frame.why[: frames.MOST_WORDS])
