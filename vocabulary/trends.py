"""Quality and cost of answers over time."""

from __future__ import annotations

from antiphon.vocabulary.values import Value


class TracePeriod(Value, frozen=True, kw_only=True):
    """What the traces of one stretch of time come to.

    Attributes:
        since: Its beginning, in seconds since the epoch.
        until: Its end, which belongs to the next one.
        traces: Questions that were asked in it.
        high: Answers of that confidence; so `medium` and `low`.
        up: Answers that somebody liked.
        down: Answers that somebody did not like.
        cost_usd: What the answers with a known price cost.
        unpriced: Answers without one.
        p50_ms: Half the queries took at most so long; None if none is over.
        p95_ms: 95 of 100 took at most so long.
    """

    since: float
    until: float
    traces: int = 0
    high: int = 0
    medium: int = 0
    low: int = 0
    up: int = 0
    down: int = 0
    cost_usd: float = 0.0
    unpriced: int = 0
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    p50_ms: float | None = None
    p95_ms: float | None = None
