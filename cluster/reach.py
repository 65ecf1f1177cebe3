"""Checks that the servers can store data. A connection proves little: a server that is cut off from most others keeps
its connections, and a stream that is full still answers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import structlog
from nats.errors import Error as NatsError
from nats.js.api import StreamInfo

from antiphon.cluster.connection import REFUSED_S, Cluster
from antiphon.cluster.queue_ports import NOT_RECORDED
from antiphon.vocabulary.errors import BusyError

log = structlog.get_logger(__name__)
T = TypeVar("T")

LOOK_S = 2.0
"""Seconds between two looks at the streams, and the time limit of one."""
LOOK_AGAIN_S = 0.5
"""Seconds until the next look after a failed one."""
AWAY_S = 4.0
"""Seconds of failed looks after which the servers count as unreachable: electing a new leader takes one to three, for
which callers can wait."""
ROOM_BYTES = 64 * 1024
"""A stream with less room than this is full: the next append may be as large."""

AWAY = (
    "The NATS servers that hold traces and questions cannot be reached, or most of them are away: "
    f"{NOT_RECORDED}. Ask again in a moment."
)
REFUSED = (
    f"The NATS servers have refused a trace for want of room: {NOT_RECORDED}. Make room on their disks, or raise what "
    f"the account or the servers may store; it is tried again every {REFUSED_S:.0f} s."
)


class Reach:
    """One process's view of the servers, which it keeps checking.

    Args:
        streams: The streams in which the process stores; their leaders know if most servers follow them, and the room.
    """

    def __init__(self, cluster: Cluster, streams: Sequence[str]) -> None:
        self._cluster = cluster
        self._streams = streams
        self._failing_since: float | None = None
        self._full: str | None = None

    @property
    def trouble(self) -> str | None:
        """The reason why nothing can be stored now, in a sentence; None as long as `watch` finds no problem."""
        if not self._cluster.client.is_connected or self._is_away():
            return AWAY
        if self._full is not None:
            return self._full
        if not self._cluster.room.value.allows(time.monotonic()):
            return REFUSED
        return None

    async def watch(self) -> None:
        """Looks until it is cancelled."""
        while True:
            await self._look()
            if self._failing_since is None:
                await asyncio.sleep(LOOK_S)
            else:
                await asyncio.sleep(LOOK_AGAIN_S)

    async def _look(self) -> None:
        before = self.trouble
        began = time.monotonic()
        try:
            async with asyncio.timeout(LOOK_S):
                look = self._cluster.jetstream.stream_info
                found = await asyncio.gather(*map(look, self._streams))
        except (NatsError, TimeoutError, ConnectionError):
            found = []
        # A server that is cut off from the leader still answers, but names no leader.
        if found and all(map(_has_leader, found)):
            self._failing_since = None
            self._full = next(filter(None, map(full, found)), None)
        elif self._failing_since is None:
            self._failing_since = began
        self._tell(before)

    def _is_away(self) -> bool:
        since = self._failing_since
        return since is not None and time.monotonic() - since >= AWAY_S

    def _tell(self, before: str | None) -> None:
        trouble = self.trouble
        if trouble is not None and before is None:
            log.warning("nats_takes_nothing", why=trouble)
        elif trouble is None and before is not None:
            log.info("nats_takes_all_again")


def full(stream: StreamInfo) -> str | None:
    """Returns the sentence for a stream that has no room; None if it has some."""
    most = stream.config.max_bytes or -1
    held = stream.state.bytes
    if most <= 0 or most - held >= ROOM_BYTES:
        return None
    return (
        f"The NATS stream {stream.config.name} is full ({held:,} bytes of at most {most:,}): {NOT_RECORDED}. Raise its "
        "`max_bytes`, or delete old traces with `antiphon traces prune`."
    )


def _has_leader(stream: StreamInfo) -> bool:
    # A single server is not a cluster and needs no leader.
    return stream.cluster is None or bool(stream.cluster.leader)


async def reached(asked: Awaitable[T]) -> T:
    """Waits for the servers' answer.

    Raises:
        BusyError: They cannot be reached, or do not answer.
    """
    try:
        return await asked
    except (NatsError, TimeoutError, ConnectionError) as error:
        raise BusyError(
            f"The NATS servers that hold the queue of questions do not answer ({type(error).__name__}): "
            f"{NOT_RECORDED}. Ask again in a moment.",
            2.0,
        ) from error
