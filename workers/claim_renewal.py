"""Keeping the claim of a query for as long as it is worked on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from antiphon.cluster import Claim
from antiphon.vocabulary.errors import BusyError

log = structlog.get_logger(__name__)

KEPT_IN_A_CLAIM = 3
"""So often is a claim kept while it lasts: two of three times may fail."""


async def until_lost(claim: Claim, now: Callable[[], float] = time.monotonic) -> None:
    """Keeps a claim, and returns once it is another's: because nothing got through, or this process stood still."""
    kept_at = now()
    while True:
        await asyncio.sleep(claim.lasts_s / KEPT_IN_A_CLAIM)
        asked_at = now()
        # Asked before it is kept once more: a process that was paused must not take back what it has lost.
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
