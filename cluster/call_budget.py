"""The model's rate, shared by all processes: a token bucket, drawn on in batches if there is plenty."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import structlog

from antiphon.cluster.shared_state import SharedValue
from antiphon.vocabulary.errors import RemoteError
from antiphon.vocabulary.pacing import (
    MINUTE_S,
    Bucket,
    CallBudget,
    Pace,
    debt_s,
    full,
    refilled,
    taken,
)

log = structlog.get_logger(__name__)

BATCH_S = 1.0
"""A process draws at most what the rate brings in so long a time, beside what a call needs."""
PLENTY = 0.5
"""The share of a minute's worth that must be left for that."""
LAPSE_S = 5.0
"""Seconds after which a process has lost what it drew and did not use: it may be gone."""


class SharedCallBudget:
    """Satisfies `CallBudget`.

    Args:
        value: The bucket that all share.
        alone: The budget of this process, by which it goes on if the servers do not answer.
        check_wait: Refuses a wait that is too long.
        now: Seconds since the epoch, by which all processes' clocks roughly agree.
    """

    def __init__(
        self,
        value: SharedValue[Bucket],
        pace: Pace,
        alone: CallBudget,
        check_wait: Callable[[float, float], None],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._value = value
        self._pace = pace
        self._alone = alone
        self._check_wait = check_wait
        self._now = now
        self._lock = asyncio.Lock()
        self._drawn = Bucket()
        self.draws = 0

    async def take(self, tokens: int, within_s: float) -> None:
        """Waits for a call's turn. Raises as `CallBudget.take` does."""
        # One draw at a time: the next call may find enough in what this one draws.
        async with self._lock:
            if self._is_drawn(tokens):
                self._drawn = taken(self._drawn, 1, tokens)
                return
            try:
                wait_s = await self._draw(tokens, within_s)
            except RemoteError as error:
                log.warning("call_budget_alone", error=str(error))
                wait_s = None
        if wait_s is None:
            await self._alone.take(tokens, within_s)
        elif wait_s > 0:
            await asyncio.sleep(wait_s)

    def settle(self, tokens: int) -> None:
        """Gives tokens back to what this process has drawn."""
        self._drawn = taken(self._drawn, 0, -tokens)

    def _is_drawn(self, tokens: int) -> bool:
        """Returns True if what was drawn is enough; what lies for too long is lost."""
        if self._now() - self._drawn.at > LAPSE_S:
            # What was used beyond the draw is still owed.
            self._drawn = Bucket(tokens=min(0.0, self._drawn.tokens), at=self._now())
        left = taken(self._drawn, 1, tokens)
        enough = self._pace.requests is None or left.requests >= 0
        return enough and (self._pace.tokens is None or left.tokens >= 0)

    async def _draw(self, tokens: int, within_s: float) -> float:
        """Takes a call, and a batch if there is plenty; returns the seconds to wait."""
        self.draws += 1
        owed = max(0.0, -self._drawn.tokens)
        batch = Bucket()

        def rule(bucket: Bucket | None) -> Bucket:
            nonlocal batch
            now = self._now()
            before = refilled(bucket or full(self._pace, now), self._pace, now)
            after = taken(before, 1, tokens + owed)
            self._check_wait(debt_s(after, self._pace), within_s)
            batch = _batch(after, self._pace)
            return taken(after, batch.requests, batch.tokens)

        after = await self._value.change(rule)
        self._drawn = taken(
            Bucket(
                requests=max(0.0, self._drawn.requests),
                tokens=max(0.0, self._drawn.tokens),
                at=self._now(),
            ),
            -batch.requests,
            -batch.tokens,
        )
        return debt_s(after, self._pace)


def _batch(left: Bucket, pace: Pace) -> Bucket:
    """Returns what may be drawn in addition."""
    scarce_requests = (
        pace.requests is not None and left.requests < pace.requests * PLENTY
    )
    scarce_tokens = pace.tokens is not None and left.tokens < pace.tokens * PLENTY
    if scarce_requests or scarce_tokens:
        return Bucket()
    share = BATCH_S / MINUTE_S
    return Bucket(
        requests=int((pace.requests or 0) * share), tokens=(pace.tokens or 0) * share
    )
