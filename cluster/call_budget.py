"""The model's rate, shared by all processes: a token bucket, from which each draws in batches if there is plenty."""

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
"""Besides a call's own need, a process draws at most the amount that the rate yields in this time."""
PLENTY = 0.5
"""The share of a minute's amount that must be left in the bucket for such a batch."""
LAPSE_S = 5.0
"""Seconds after which a process loses the unused rest of its draw, as if it were gone."""


class SharedCallBudget:
    """The budget of model calls of all processes together; satisfies `CallBudget`.

    Args:
        value: The bucket that all share.
        alone: This process's own budget, which replaces the shared one if the servers do not answer.
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
        """Gives tokens back to this process's draw."""
        self._drawn = taken(self._drawn, 0, -tokens)

    def _is_drawn(self, tokens: int) -> bool:
        """Returns True if the draw is enough for a call; an old draw is lost."""
        if self._now() - self._drawn.at > LAPSE_S:
            # Tokens used beyond the draw are still owed to the bucket.
            self._drawn = Bucket(tokens=min(0.0, self._drawn.tokens), at=self._now())
        left = taken(self._drawn, 1, tokens)
        enough = self._pace.requests is None or left.requests >= 0
        return enough and (self._pace.tokens is None or left.tokens >= 0)

    async def _draw(self, tokens: int, within_s: float) -> float:
        """Takes a call, and a batch if there is plenty; returns the seconds to wait."""
        self.draws += 1
        owed = max(0.0, -self._drawn.tokens)
        batch = Bucket()

        # If other processes are faster, `change` calls this again: the batch of the last call counts.
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
    """Returns the batch that a process may draw besides its call."""
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
