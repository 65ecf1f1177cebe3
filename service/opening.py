"""Chooses the parts of a process by its settings; nothing else in the service knows the options."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

# As modules, so that a command loads only the parts that it uses.
from antiphon import access, composition, knowledge, workers
from antiphon.composition.trace_store import open_trace_store
from antiphon.traces import Redaction
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.ports import WholeTraceStore
from antiphon.vocabulary.subscribers import Subscriber


@dataclass(frozen=True)
class Parts:
    """The parts of a service.

    Attributes:
        membership: Its connection to the other processes that work on its queries; None: it is alone.
    """

    resources: composition.ServiceResources
    callers: access.KeyCallers
    membership: workers.Membership | None = None


def callers_of(
    settings: composition.Settings, resources: composition.ServiceResources
) -> access.KeyCallers:
    """Returns the callers of a service that is alone."""
    return access.KeyCallers(settings, resources)


async def open_parts(
    settings: composition.Settings,
    subscribers: Sequence[Subscriber] = (),
    *,
    outside: composition.BuildOutside | None = None,
    loads_later: bool = False,
) -> Parts:
    """Opens everything that the settings name. Takes and raises what `Antiphon.open` does."""
    knowledge.use_readers(settings.readers)
    close_outside: Callable[[], Awaitable[None]] | None = None
    if outside is None and settings.remote:
        elsewhere = workers.performed_elsewhere(settings)
        outside, close_outside = elsewhere, elsewhere.close
    build = partial(
        composition.build,
        settings,
        subscribers,
        loads_later=loads_later,
        outside=outside,
        close_outside=close_outside,
    )
    # In a thread, because loading an embedder and opening an index take seconds, and the event loop has other work.
    if settings.nats_url is None:
        resources = await asyncio.to_thread(build)
        callers = callers_of(settings, resources)
        await asyncio.to_thread(callers.open)
        return Parts(resources, callers)
    membership = await workers.Membership.open(settings)
    try:
        resources = await asyncio.to_thread(
            build, open_store=membership.open_store, limits_of=membership.limits_of
        )
        callers = access.KeyCallers(settings, resources, membership.ledger)
        await asyncio.to_thread(callers.open)
        await membership.begin(callers.file, resources.telemetry.metrics)
    # Also when cancelled: the connection must not outlive the attempt.
    except BaseException:
        await membership.close()
        raise
    return Parts(resources, callers, membership)


def performed_here(
    outside: composition.BuildOutside | None,
) -> composition.BuildOutside | None:
    """Returns the outside itself if it performs requests in this process, else None: build one by the settings."""
    if isinstance(outside, workers.PerformedElsewhere):
        return None
    return outside


async def share_keys(settings: composition.Settings, *, at_start: bool = False) -> None:
    """Synchronises the keys of the data folder with those of the other nodes, if there are any.

    Args:
        at_start: Wait for their servers, which may just have been started.

    Raises:
        RemoteError: They do not answer.
        ConfigurationError: They cannot be reached, or the file cannot be used.
    """
    if settings.nats_url is not None:
        await workers.share_keys(settings, at_start=at_start)


async def shares_of(
    settings: composition.Settings, file: access.AccessFile
) -> Sequence[access.Share]:
    """Returns today's usage of each key and tenant, on all nodes. Raises BusyError if it cannot be read."""
    if settings.nats_url is not None:
        return await workers.shares_of_all(settings, file)
    return await access.shares_of(file)


@asynccontextmanager
async def trace_store_of(
    settings: composition.Settings,
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
) -> AsyncIterator[WholeTraceStore]:
    """Opens the store that the settings name, for a command, and closes it at the end.

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
