"""The trace store of all processes, on NATS."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from antiphon import cluster as on_nats
from antiphon.composition import Settings
from antiphon.traces import Redaction
from antiphon.vocabulary.catalog import Catalog
from antiphon.workers.connecting import connected

log = structlog.get_logger(__name__)

ABANDONED_CLAIMS = 6.0
"""Times a claim lasts after which an open trace without an event, which waits for no worker, is nobody's."""


def open_shared_store(
    cluster: on_nats.Cluster, settings: Settings, redaction: Redaction, catalog: Catalog
) -> on_nats.JetStreamTraceStore:
    """Opens the store, on streams that are made already."""
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
    """Opens the store for a command, and closes it and its connection at the end.

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
