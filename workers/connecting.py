"""Connections to the servers that the settings name."""

from __future__ import annotations

from antiphon import cluster as on_nats
from antiphon.cluster import QueryQueue
from antiphon.composition import Settings
from antiphon.vocabulary.errors import ConfigurationError


async def connected(settings: Settings, name: str) -> on_nats.Cluster:
    """Connects to the servers, and makes the streams.

    Raises:
        ConfigurationError: None are named, or they cannot be reached, or are too old.
    """
    cluster = await on_nats.connect(
        _url_of(settings),
        name=name,
        prefix=settings.nats_prefix,
        replicas=settings.nats_replicas,
    )
    try:
        await on_nats.make_streams(cluster.jetstream, cluster.naming, cluster.replicas)
    except BaseException:
        await cluster.close()
        raise
    return cluster


def late_connection(settings: Settings, name: str) -> on_nats.LateConnection:
    """Returns a connection that is made when it is first used. Raises ConfigurationError if no servers are named."""
    return on_nats.LateConnection(
        _url_of(settings),
        name=f"antiphon {name}",
        prefix=settings.nats_prefix,
        replicas=settings.nats_replicas,
    )


def _url_of(settings: Settings) -> str:
    if settings.nats_url is None:
        raise ConfigurationError(
            "No queue is named: set ANTIPHON_NATS_URL, or give it with --queue."
        )
    return settings.nats_url


async def queue_of(cluster: on_nats.Cluster, settings: Settings) -> QueryQueue:
    """Opens the queue alone. Raises BusyError where the servers do not answer."""
    return await on_nats.JetStreamQueue.open(
        cluster, settings.claim_s, settings.most_claims
    )
