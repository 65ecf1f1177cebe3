"""Measures how fast models wrote lately, across queries, to estimate how long the longest reply can take."""

from __future__ import annotations

import math
from typing import NamedTuple

_LASTS_S = 60.0
"""Seconds for which a reply counts; a busy service streams a few replies in each such period, and so stays current."""
_MOST_REPLIES = 16
_TICK_S = 0.001
"""Least duration of a reply: one that came all at once took no time that a clock can measure."""


class _Streamed(NamedTuple):
    """One streamed reply: the time of its end, and its tokens per second."""

    at: float
    speed: float


class ModelSpeeds:
    """The tokens per second of each model's last streamed replies, across queries; one per process."""

    def __init__(self) -> None:
        self._replies: dict[str, list[_Streamed]] = {}

    def note(self, model: str, tokens: int, seconds: float, now: float) -> None:
        """Notes a streamed reply; ignores one whose tokens the server did not count.

        Args:
            seconds: The time from the reply's first event to its last.
        """
        if tokens <= 0:
            return
        replies = self._replies.setdefault(model, [])
        replies.append(_Streamed(now, tokens / max(seconds, _TICK_S)))
        del replies[:-_MOST_REPLIES]

    def longest_s(self, model: str, max_tokens: int, now: float) -> float:
        """Returns the seconds for so many tokens at the slowest recent speed; infinite if no speed is known."""
        replies = self._replies.get(model, ())
        speeds = [reply.speed for reply in replies if now - reply.at <= _LASTS_S]
        if not speeds:
            return math.inf
        return max_tokens / min(speeds)
