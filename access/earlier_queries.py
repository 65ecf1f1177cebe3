"""Counts what queries use that were let in by a process which may be gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog

from antiphon.access.ledgers import UnderWay
from antiphon.access.metering import KeyMetering
from antiphon.access.quotas import Quotas
from antiphon.composition import Query
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import ServiceError

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 10.0

Find = Callable[[UnderWay], tuple[Principal, Query]]
"""Returns whose a query is, and the query."""


async def count_earlier(quotas: Quotas, metering: KeyMetering, find: Find) -> None:
    """Waits for such queries to end, and looks for further ones, until it is cancelled."""
    while True:
        try:
            for each in await quotas.under_way():
                if not metering.watches(each.query_id):
                    metering.watch_resumed(*find(each))
        except ServiceError as error:
            log.warning("earlier_queries_not_counted", error=str(error))
        await asyncio.sleep(LOOK_EVERY_S)
