"""Keeps the traces that the settings want kept: the older ones go, while the service goes on answering."""

from __future__ import annotations

import structlog

from antiphon.composition.settings import Settings
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.ports import Clock, Retention

log = structlog.get_logger(__name__)

EVERY_S = 3600.0
DAY_S = 86_400.0
MB = 1_000_000


def is_limited(settings: Settings) -> bool:
    """Whether there is anything to do."""
    return settings.keep_days is not None or settings.keep_mb is not None


async def keep(store: Retention, settings: Settings, clock: Clock) -> None:
    """Deletes what is too old or too much, now and every hour, until it is cancelled."""
    while True:
        older_than = None if settings.keep_days is None else clock.now() - settings.keep_days * DAY_S
        most_bytes = None if settings.keep_mb is None else int(settings.keep_mb * MB)
        try:
            if deleted := await store.prune(older_than=older_than, most_bytes=most_bytes):
                log.info("traces_pruned", traces=deleted)
        except ServiceError as error:
            log.warning("traces_not_pruned", error=str(error))
        await clock.sleep(EVERY_S)
