"""Opens connections, the queue, the trace store and the limits on the servers that the settings name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from antiphon import cluster as on_nats
from antiphon import engine
from antiphon.cluster import QueryQueue
from antiphon.composition import Limits, Settings, own_budget
from antiphon.coordinator import ProviderCircuit
from antiphon.traces import Redaction
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.circuit import Circuit
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.pacing import Bucket, CallBudget, Pace
from antiphon.vocabulary.ports import Clock

log = structlog.get_logger(__name__)

ABANDONED_CLAIMS = 6.0
"""An open trace that is in no queue and has had no event for this many lifetimes of a claim counts as abandoned."""
CIRCUIT_KEY = "circuit.provider"
RATE_KEY = "rate.model"


async def connected(settings: Settings, name: str) -> on_nats.Cluster:
    """Connects to the servers, and makes missing streams and updates existing ones.

    Raises:
        ConfigurationError: The settings name no servers, or these cannot be reached or are too old.
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
    """Returns a connection that opens at its first use. Raises ConfigurationError if the settings name no servers."""
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
    """Opens only the queue. Raises BusyError if the servers do not answer."""
    return await on_nats.JetStreamQueue.open(
        cluster, settings.claim_s, settings.most_claims
    )


def open_shared_store(
    cluster: on_nats.Cluster, settings: Settings, redaction: Redaction, catalog: Catalog
) -> on_nats.JetStreamTraceStore:
    """Opens the store on existing streams."""
    # The key protects only the local list: events on the servers are encrypted by the servers, if at all.
    key = settings.store_key
    if key is not None:
        log.warning(
            "key_encrypts_the_list_of_traces_alone",
            wanted="the NATS servers encrypt what they store by a key of their own: docs/cluster.md",
        )
    abandoned_s = ABANDONED_CLAIMS * settings.claim_s
    return on_nats.JetStreamTraceStore(
        cluster, settings.data_dir, redaction, catalog, abandoned_s, key
    )


@asynccontextmanager
async def shared_store(
    settings: Settings, redaction: Redaction, catalog: Catalog
) -> AsyncIterator[on_nats.JetStreamTraceStore]:
    """Opens the store for a command; closes it and its connection at the end.

    Raises:
        ConfigurationError: The servers cannot be used.
    """
    cluster = await connected(settings, "antiphon traces")
    try:
        store = open_shared_store(cluster, settings, redaction, catalog)
        try:
            yield store
        finally:
            await store.close()
    finally:
        await cluster.close()


def shared_limits(settings: Settings, clock: Clock, deadline_s: float) -> Limits:
    """Returns the limits of all processes, without connecting yet.

    Raises:
        ConfigurationError: The settings name no servers.
    """
    connection = late_connection(settings, "limits")
    return limits_over(connection, settings, clock, deadline_s)


def limits_over(
    connection: on_nats.LateConnection,
    settings: Settings,
    clock: Clock,
    deadline_s: float,
) -> Limits:
    """Returns the limits of all processes over a connection, which is closed with them."""
    budget: CallBudget | None = own_budget(settings, clock)
    if budget is not None:
        pace = Pace(requests=settings.model_rpm, tokens=settings.model_tpm)
        bucket = on_nats.SharedValue(connection, RATE_KEY, Bucket)
        budget = on_nats.SharedCallBudget(bucket, pace, budget, engine.check_wait)
    value = on_nats.SharedValue(connection, CIRCUIT_KEY, Circuit)
    circuit = on_nats.SharedCircuit(value, Circuit())

    async def close() -> None:
        await circuit.close()
        await connection.close()

    provider = ProviderCircuit(deadline_s=deadline_s, holder=circuit)
    return Limits(provider, budget, clock, close)
