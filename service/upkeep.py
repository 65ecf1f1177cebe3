"""What a service does beside its queries: it follows the index, and deletes old traces."""

from __future__ import annotations

import asyncio

import structlog

from antiphon.composition import CourseIndex, Settings
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.ports import Clock, Retention

log = structlog.get_logger(__name__)

REFRESH_EVERY_S = 1.0
"""A new index is used about as soon as the command that made it has ended."""
DAY_S = 86_400.0
MB = 1_000_000


async def refresh_library(library: CourseIndex) -> None:
    """Switches to a new index when another process has made one, until it is cancelled."""
    while True:
        await asyncio.sleep(REFRESH_EVERY_S)
        # An index that cannot be opened leaves the old one in use, and is tried once more in a second.
        try:
            if await asyncio.to_thread(library.refresh):
                log.info("index_switched", generation=library.describe().generation)
        except ServiceError as error:
            log.warning("index_not_switched", error=str(error))


async def keep_traces(store: Retention, settings: Settings, clock: Clock) -> None:
    """Deletes traces that are too old or too much, now and at intervals, until it is cancelled."""
    while True:
        older_than: float | None = None
        most_bytes: int | None = None
        if settings.keep_days is not None:
            older_than = clock.now() - settings.keep_days * DAY_S
        if settings.keep_mb is not None:
            most_bytes = int(settings.keep_mb * MB)
        # A store that cannot be written now must not end the service.
        try:
            if deleted := await store.prune(
                older_than=older_than, most_bytes=most_bytes
            ):
                log.info("traces_pruned", traces=deleted)
        except ServiceError as error:
            log.warning("traces_not_pruned", error=str(error))
        await clock.sleep(settings.keep_every_s)
