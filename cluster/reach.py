"""Looks whether the servers answer: a connection says little, for one that is cut off from most others keeps it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import structlog
from nats.errors import Error as NatsError

from antiphon.cluster.connection import Cluster
from antiphon.vocabulary.errors import BusyError

log = structlog.get_logger(__name__)
T = TypeVar("T")

LOOK_S = 2.0
"""Seconds between two looks at a stream, and for which the answer to one is waited for."""
MOST_FAILED = 3
"""Looks in vain, one after the other, after which the servers are not reached: a new leader is elected in one to three
seconds, which whoever asks meanwhile can wait for."""

_LED = "a leader"


class Reach:
    """The way of one process to the servers, as it looks at it all the time.

    Args:
        stream: Asked for its state, which tells whom most of its servers follow.
    """

    def __init__(self, cluster: Cluster, stream: str) -> None:
        self._cluster = cluster
        self._stream = stream
        self._failed = 0

    @property
    def holds(self) -> bool:
        """True while the connection is up and, where somebody looks (`watch`), the stream has a leader."""
        return self._cluster.client.is_connected and self._failed < MOST_FAILED

    async def watch(self) -> None:
        """Looks until it is cancelled."""
        while True:
            await self._look()
            await asyncio.sleep(LOOK_S)

    async def _look(self) -> None:
        found = await self._found()
        if found != _LED:
            self._failed += 1
            if self._failed == MOST_FAILED:
                log.warning("nats_not_answering", found=found)
            return
        if self._failed >= MOST_FAILED:
            log.info("nats_answering_again")
        self._failed = 0

    async def _found(self) -> str:
        try:
            async with asyncio.timeout(LOOK_S):
                info = await self._cluster.jetstream.stream_info(self._stream)
        except (NatsError, TimeoutError, ConnectionError) as error:
            return type(error).__name__
        # A server that is cut off from the leader answers for itself, and names none. One alone is no cluster.
        if info.cluster is not None and not info.cluster.leader:
            return "the stream has no leader"
        return _LED


async def reached(asked: Awaitable[T]) -> T:
    """Waits for the servers.

    Raises:
        BusyError: They cannot be reached, or do not answer.
    """
    try:
        return await asked
    except (NatsError, TimeoutError, ConnectionError) as error:
        raise BusyError(
            f"The NATS servers that hold the queue of questions do not answer ({type(error).__name__}): nothing is "
            "answered that cannot be recorded. Ask again in a moment.",
            2.0,
        ) from error
