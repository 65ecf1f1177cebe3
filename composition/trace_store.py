"""Opens the trace store; a module of its own, because commands that read traces need nothing else."""

from __future__ import annotations

from pathlib import Path

from antiphon.cluster import Cluster, JetStreamTraceStore
from antiphon.traces import Durability, Redaction, SqliteTraceStore
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.tenant_ports import TenantTraceStore


def open_trace_store(
    folder: Path,
    durability: Durability = "process",
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
    key: str | None = None,
    cluster: Cluster | None = None,
) -> TenantTraceStore:
    """Opens the trace store of a data folder; only this function knows its class.

    Args:
        durability: The failure that a committed event survives.
        redaction: Applied to every event; None: nothing is redacted.
        catalog: The events that there are.
        key: The key that the file is encrypted with; None: it is not.
        cluster: Where traces are, on streams that are made already; None: in the folder.

    Raises:
        ConfigurationError: The folder or the file cannot be used.
    """
    if cluster is not None:
        return JetStreamTraceStore(cluster, folder, redaction or Redaction(), catalog)
    return SqliteTraceStore.open(folder, durability, redaction, catalog, key)
