"""Opens the trace store; a separate module, because commands that read traces need nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from antiphon.composition.settings import Settings
from antiphon.traces import Durability, Redaction, SqliteTraceStore
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.ports import WholeTraceStore

OpenStore = Callable[[Settings, Redaction, Catalog], WholeTraceStore]
"""Opens the trace store that the settings describe."""


def open_trace_store(
    folder: Path,
    durability: Durability = "process",
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
    key: str | None = None,
) -> WholeTraceStore:
    """Opens the trace store of a data folder; only this module knows its class.

    Args:
        durability: The failure that a committed event survives.
        redaction: Applied to every event; None: only keys of the service are redacted.
        catalog: All events that the store may hold.
        key: The key that encrypts the file; None: it is not encrypted.

    Raises:
        ConfigurationError: The folder or the file cannot be used.
    """
    return SqliteTraceStore.open(folder, durability, redaction, catalog, key)


def open_own_store(
    settings: Settings, redaction: Redaction, catalog: Catalog
) -> WholeTraceStore:
    """Opens the trace store of the settings' data folder. Raises as `open_trace_store` does."""
    return open_trace_store(
        settings.data_dir, settings.durability, redaction, catalog, settings.store_key
    )
