"""The rule for trying a failed call once more; pure."""

from __future__ import annotations

from vocabulary.errors import ModelError

ATTEMPTS = 2
SHORT_WAIT_S = 0.5
LEAST_LEFT_S = 1.0
"""An attempt that would have less time than this is not worth making."""


def retry_wait(error: ModelError, attempt: int, left_s: float) -> float | None:
    """Seconds to wait before the next attempt, or None where there must be none.

    Args:
        attempt: The attempt that failed, from 1.
        left_s: What is left of the call's time, in seconds.
    """
    if not error.retryable or attempt >= ATTEMPTS:
        return None
    wait_s = SHORT_WAIT_S if error.retry_after_s is None else error.retry_after_s
    return wait_s if wait_s + LEAST_LEFT_S <= left_s else None
