"""Opens the trace store; a module of its own, because commands that read traces need nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog

from antiphon import cluster as on_nats
from antiphon.composition.settings import Settings
from antiphon.traces import Durability, Redaction, SqliteTraceStore
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.tenant_ports import TenantTraceStore

log = structlog.get_logger(__name__)

CLAIM_S = 10.0
ABANDONED_CLAIMS = 6.0
"""Times a claim lasts after which an open trace without an event, which waits for no worker, is nobody's."""


def open_trace_store(
    folder: Path,
    durability: Durability = "process",
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
    key: str | None = None,
    cluster: on_nats.Cluster | None = None,
    claim_s: float = CLAIM_S,
) -> TenantTraceStore:
    """Opens the trace store of a data folder, or of NATS; only this module knows its class.

    Args:
        durability: The failure that a committed event survives; on NATS its servers' setting (docs/cluster.md).
        redaction: Applied to every event; None: nothing is redacted.
        catalog: The events that there are.
        key: The key that the file is encrypted with; None: it is not.
        cluster: Where traces are, on streams that are made already; None: in the folder.
        claim_s: Seconds for which a worker's claim of a query lasts.

    Raises:
        ConfigurationError: The folder or the file cannot be used.
    """
    if cluster is None:
        return SqliteTraceStore.open(folder, durability, redaction, catalog, key)
    if key is not None:
        log.warning(
            "key_encrypts_the_list_of_traces_alone",
            wanted="the NATS servers encrypt what they store by a key of their own: docs/cluster.md",
        )
    if redaction is None:
        redaction = Redaction()
    return on_nats.JetStreamTraceStore(
        cluster, folder, redaction, catalog, ABANDONED_CLAIMS * claim_s, key
    )


@asynccontextmanager
async def trace_store_of(
    settings: Settings,
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
) -> AsyncIterator[TenantTraceStore]:
    """Opens the store that the settings name for a command, and closes it at the end.

    Raises:
        ConfigurationError: The folder, the file or the servers cannot be used.
    """
    cluster: on_nats.Cluster | None = None
    if settings.nats_url is not None:
        cluster = await on_nats.connect(
            settings.nats_url,
            name="antiphon traces",
            prefix=settings.nats_prefix,
            replicas=settings.nats_replicas,
        )
    try:
        if cluster is not None:
            await on_nats.make_streams(
                cluster.jetstream, cluster.naming, cluster.replicas
            )
        store = open_trace_store(
            settings.data_dir,
            redaction=redaction,
            catalog=catalog,
            key=settings.store_key,
            cluster=cluster,
        )
        try:
            yield store
        finally:
            await store.close()
    finally:
        if cluster is not None:
            await cluster.close()
