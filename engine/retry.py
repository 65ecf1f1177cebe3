"""The rule for retrying a failed call: exponential backoff with jitter, or the wait that the server asks for; pure."""

from __future__ import annotations

from antiphon.vocabulary.errors import ModelError

# The SDK's own first and longest wait (https://github.com/anthropics/anthropic-sdk-python), with one attempt more.
ATTEMPTS = 4
FIRST_WAIT_S = 0.5
MOST_WAIT_S = 8.0
JITTER = 0.5
"""Share of a wait that chance may take away, so that callers who failed together do not retry together."""
ASKED_JITTER = 0.1
"""Share that chance may add to a wait that the server asked for, which is never shortened."""
LEAST_LEFT_S = 1.0
"""Least time for another attempt."""


def retry_wait(
    error: ModelError, attempt: int, left_s: float, chance: float = 0.0
) -> float | None:
    """Returns the seconds to wait before the next attempt, or None if there must be none.

    Args:
        attempt: The attempt that failed, from 1.
        left_s: The rest of the call's time, in seconds.
        chance: A random number from 0 to 1.
    """
    if not error.retryable or attempt >= ATTEMPTS:
        return None
    if error.retry_after_s is None:
        wait_s = min(FIRST_WAIT_S * 2 ** (attempt - 1), MOST_WAIT_S) * (
            1 - JITTER * chance
        )
    else:
        wait_s = error.retry_after_s * (1 + ASKED_JITTER * chance)
    return wait_s if wait_s + LEAST_LEFT_S <= left_s else None
