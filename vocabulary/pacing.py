"""The rate at which a provider may be called, as a token bucket: a pure value.

The algorithm is that of Anthropic's own limits (https://docs.claude.com/en/api/rate-limits), in the form in which a
caller takes what it needs at once, into debt if it must, and waits until the debt is paid (virtual scheduling, as in
the generic cell rate algorithm of ITU-T I.371): callers are served in the order in which they came.
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from antiphon.vocabulary.values import Value

MINUTE_S = 60.0


class Pace(Value, frozen=True, kw_only=True):
    """The most that may be used in a minute; None: no limit."""

    requests: int | None = None
    tokens: int | None = None

    @property
    def is_limited(self) -> bool:
        return self.requests is not None or self.tokens is not None


class Bucket(Value, frozen=True, kw_only=True):
    """What is left at the time `at`; a negative amount is owed. A full one holds a minute's worth."""

    requests: float = 0.0
    tokens: float = 0.0
    at: float = 0.0


def full(pace: Pace, now: float) -> Bucket:
    """Returns a bucket that nothing was taken from."""
    return Bucket(requests=pace.requests or 0, tokens=pace.tokens or 0, at=now)


def refilled(bucket: Bucket, pace: Pace, now: float) -> Bucket:
    """Returns the bucket as it is now; a clock that is behind adds nothing."""
    passed_s = max(0.0, now - bucket.at)
    share = passed_s / MINUTE_S
    return Bucket(
        requests=_filled(bucket.requests, pace.requests, share),
        tokens=_filled(bucket.tokens, pace.tokens, share),
        at=max(bucket.at, now),
    )


def taken(bucket: Bucket, requests: float, tokens: float) -> Bucket:
    """Returns the bucket without these; what it lacked it owes."""
    return replace(
        bucket, requests=bucket.requests - requests, tokens=bucket.tokens - tokens
    )


def debt_s(bucket: Bucket, pace: Pace) -> float:
    """Returns the seconds until nothing is owed."""
    return max(
        _debt_s(bucket.requests, pace.requests), _debt_s(bucket.tokens, pace.tokens)
    )


class CallBudget(Protocol):
    """The budget of calls to the provider, shared by all that call it."""

    async def take(self, tokens: int, within_s: float) -> None:
        """Waits until a call of so many tokens may be made.

        Raises:
            ModelError: That would take longer than `within_s`; nothing is taken then.
        """

    def settle(self, tokens: int) -> None:
        """Returns tokens that a call took and did not use; a negative number charges for further ones."""


def _filled(level: float, most: int | None, share: float) -> float:
    if most is None:
        return 0.0
    return min(float(most), level + most * share)


def _debt_s(level: float, most: int | None) -> float:
    if most is None or level >= 0:
        return 0.0
    return -level / most * MINUTE_S
