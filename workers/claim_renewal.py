"""Renews the claim on a query for as long as a worker works on it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from antiphon.cluster import Claim
from antiphon.vocabulary.errors import BusyError

log = structlog.get_logger(__name__)

KEPT_IN_A_CLAIM = 3
"""Renewals are due this often within the lifetime of a claim, so that one of them may fail."""


async def until_lost(claim: Claim, now: Callable[[], float] = time.monotonic) -> None:
    """Renews a claim, and returns once it may be another's: no renewal got through, or this process was paused."""
    kept_at = now()
    while True:
        await asyncio.sleep(claim.lasts_s / KEPT_IN_A_CLAIM)
        asked_at = now()
        # Checked before each renewal: a process that was paused must not take back a claim that it has lost.
        if asked_at - kept_at >= claim.lasts_s:
            return
        try:
            await claim.keep()
            kept_at = asked_at
        except BusyError as error:
            log.warning(
                "claim_not_kept", query_id=claim.query.query_id, error=str(error)
            )
        if now() - kept_at >= claim.lasts_s:
            return
