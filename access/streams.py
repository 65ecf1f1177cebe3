"""Event streams that followers hold open, and how many of them one tenant may have at once."""

from __future__ import annotations

from collections import Counter

import structlog

from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import QuotaError

log = structlog.get_logger(__name__)

RETRY_S = 5
NEARLY_FULL = 0.8
"""Share of a tenant's streams at which the log warns, once until half of them are closed."""


class TenantStreams:
    """The open streams of each tenant; callers without a key have no limit. Satisfies `composition.OpenStreams`.

    Args:
        most: The most streams that one tenant may have open at once.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: Counter[str] = Counter()
        self._warned: set[str] = set()

    def enter(self, caller: Principal) -> None:
        """Counts one more open stream.

        Raises:
            QuotaError: The tenant has as many as it may have; this one is not counted.
        """
        tenant = caller.tenant
        if caller.key_id and self._open[tenant] >= self._most:
            raise QuotaError(
                f"The tenant {tenant} may have {self._most} event streams open at once: close one, or try again in "
                f"{RETRY_S} seconds.",
                RETRY_S,
            )
        self._open[tenant] += 1
        if caller.key_id:
            self._warn_if_nearly_full(tenant)

    def leave(self, caller: Principal) -> None:
        """Counts one open stream less."""
        self._open[caller.tenant] -= 1
        # At half and not just below the threshold: one stream opened and closed there must not warn each time.
        if self._open[caller.tenant] <= self._most / 2:
            self._warned.discard(caller.tenant)
        # A Counter keeps zeros: without this it would grow by every tenant that was ever here.
        if not self._open[caller.tenant]:
            del self._open[caller.tenant]

    def _warn_if_nearly_full(self, tenant: str) -> None:
        open_now = self._open[tenant]
        if open_now < self._most * NEARLY_FULL or tenant in self._warned:
            return
        self._warned.add(tenant)
        log.warning(
            "event_streams_nearly_full",
            tenant=tenant,
            open=open_now,
            most=self._most,
            remedy="have its programs close streams that they no longer read, or raise ANTIPHON_MOST_STREAMS",
        )
