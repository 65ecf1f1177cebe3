"""Chooses what a process consists of, by its settings: nothing else in the service knows which options there are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

# As modules: a command loads only what it uses.
from antiphon import composition, workers
from antiphon.composition.trace_store import open_trace_store
from antiphon.traces import Redaction
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.tenant_ports import TenantTraceStore


@dataclass(frozen=True)
class Parts:
    """What a service consists of.

    Attributes:
        membership: What it shares with other processes, which work on its queries; None: it is alone.
    """

    resources: composition.ServiceResources
    membership: workers.Membership | None = None


async def open_parts(
    settings: composition.Settings,
    subscribers: Sequence[Subscriber] = (),
    *,
    loads_later: bool = False,
) -> Parts:
    """Opens everything that the settings name. Takes and raises what `Antiphon.open` does."""
    # Loading an embedder and opening an index take seconds, in which the loop may have other things to do.
    if settings.nats_url is None:
        return Parts(
            await asyncio.to_thread(
                composition.build, settings, subscribers, loads_later=loads_later
            )
        )
    membership = await workers.Membership.open(settings)
    try:
        resources = await asyncio.to_thread(
            composition.build,
            settings,
            subscribers,
            loads_later=loads_later,
            open_store=membership.open_store,
            limits_of=membership.limits_of,
        )
        await membership.begin(resources.telemetry.metrics)
    except BaseException:
        await membership.close()
        raise
    return Parts(resources, membership)


@asynccontextmanager
async def trace_store_of(
    settings: composition.Settings,
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
) -> AsyncIterator[TenantTraceStore]:
    """Opens the store that the settings name for a command, and closes it at the end.

    Raises:
        ConfigurationError: The folder, the file or the servers cannot be used.
    """
    redaction = redaction or Redaction()
    if settings.nats_url is not None:
        async with workers.shared_store(settings, redaction, catalog) as shared:
            yield shared
        return
    store = open_trace_store(
        settings.data_dir,
        redaction=redaction,
        catalog=catalog,
        key=settings.store_key,
    )
    try:
        yield store
    finally:
        await store.close()
