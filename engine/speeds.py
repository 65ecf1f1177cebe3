"""How fast models wrote lately, across queries: it tells how long the longest reply can take."""

from __future__ import annotations

import math
from typing import NamedTuple

_LASTS_S = 60.0
"""Seconds for which a reply counts; a busy service streams a few replies in each such time, and so learns anew."""
_MOST_REPLIES = 16
_TICK_S = 0.001
"""A reply that came all at once took as long as a clock can tell."""


class _Streamed(NamedTuple):
    """One streamed reply: when it was complete, and the tokens a second of it."""

    at: float
    speed: float


class ModelSpeeds:
    """The tokens a second at which each model wrote its last streamed replies, across queries. One a process."""

    def __init__(self) -> None:
        self._replies: dict[str, list[_Streamed]] = {}

    def note(self, model: str, tokens: int, seconds: float, now: float) -> None:
        """Notes a reply that was streamed; one whose tokens the server did not count tells nothing.

        Args:
            seconds: From the reply's first event to its last.
        """
        if tokens <= 0:
            return
        replies = self._replies.setdefault(model, [])
        replies.append(_Streamed(now, tokens / max(seconds, _TICK_S)))
        del replies[:-_MOST_REPLIES]

    def longest_s(self, model: str, max_tokens: int, now: float) -> float:
        """Returns the seconds that so many tokens take at the slowest speed of late; endless for an unheard model."""
        replies = self._replies.get(model, ())
        speeds = [reply.speed for reply in replies if now - reply.at <= _LASTS_S]
        if not speeds:
            return math.inf
        return max_tokens / min(speeds)
