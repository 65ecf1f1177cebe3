"""What a process shares with others where traces and queries are on NATS: the queue, and the signals."""

from __future__ import annotations

from dataclasses import dataclass

from antiphon.cluster import Cluster, JetStreamQueue, NatsSignals
from antiphon.vocabulary.queue_ports import QueryQueue, Signals


@dataclass(frozen=True)
class Sharing:
    """The part of a cluster that is not the traces."""

    queue: QueryQueue
    signals: Signals


async def open_sharing(cluster: Cluster, claim_s: float) -> Sharing:
    """Opens the queue and the signals over a connection.

    Args:
        claim_s: Seconds for which a worker's claim of a query lasts.

    Raises:
        BusyError: The servers cannot be reached.
    """
    queue = await JetStreamQueue.open(cluster, claim_s)
    return Sharing(queue, NatsSignals(cluster))
