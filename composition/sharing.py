"""What a process shares with others where traces and queries are on NATS: the connection, the queue, the signals."""

from __future__ import annotations

import socket
from dataclasses import replace

from antiphon import cluster as on_nats
from antiphon.composition.resources import ServiceResources, Sharing
from antiphon.composition.settings import Settings
from antiphon.vocabulary.queue_ports import QueryQueue


async def open_cluster(settings: Settings) -> on_nats.Cluster | None:
    """Connects to the servers that the settings name, and makes the streams; None where they name none.

    Raises:
        ConfigurationError: They cannot be reached, or are too old.
    """
    if settings.nats_url is None:
        return None
    cluster = await on_nats.connect(
        settings.nats_url,
        name=f"antiphon on {socket.gethostname()}",
        prefix=settings.nats_prefix,
        replicas=settings.nats_replicas,
    )
    await on_nats.make_streams(cluster.jetstream, cluster.naming, cluster.replicas)
    return cluster


async def with_sharing(
    resources: ServiceResources, cluster: on_nats.Cluster | None, settings: Settings
) -> ServiceResources:
    """Returns the resources of a process with the queue that it shares, where it shares one.

    Raises:
        BusyError: The servers cannot be reached any more.
    """
    if cluster is None:
        return resources
    queue = await queue_of(cluster, settings)
    sharing = Sharing(queue, on_nats.NatsSignals(cluster), cluster.close)
    limits = resources.limits
    if limits is not None and limits.connection is not None:
        sharing = replace(sharing, state=on_nats.SharedState(limits.connection))
    metrics = resources.telemetry.metrics
    if metrics is not None:
        sharing = replace(sharing, counts=metrics.watch_queue(queue))
    return replace(resources, sharing=sharing)


async def queue_of(cluster: on_nats.Cluster, settings: Settings) -> QueryQueue:
    """Opens the queue alone. Raises BusyError where the servers do not answer."""
    return await on_nats.JetStreamQueue.open(
        cluster, settings.claim_s, settings.most_claims
    )
