"""The health of a resource: the outcome of its last use, and a protocol for stores that check themselves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

REMEMBERED_S = 5.0
"""Seconds for which the outcome of the last try counts as the current state."""


FORGOTTEN_S = 60.0
"""Seconds after which a problem that did not recur no longer counts."""


class LastTry:
    """The outcome of the last try of something, no matter which part of the service tried."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at: float | None = None
        self._problem: str | None = None

    def note(self, problem: str | None = None) -> None:
        """Notes a try that has just ended, and why it failed, if it did."""
        self._at = self._now()
        self._problem = problem

    @property
    def problem(self) -> str | None:
        """Why it failed, in a sentence; None if it worked, or failed too long ago to count."""
        return self._problem if self._within(FORGOTTEN_S) else None

    @property
    def is_recent(self) -> bool:
        """True if it is recent enough that nobody need try again."""
        return self._within(REMEMBERED_S)

    def _within(self, seconds: float) -> bool:
        return self._at is not None and self._now() - self._at < seconds


@runtime_checkable
class SelfChecking(Protocol):
    """A store that can check whether it can be written, and report its losses."""

    async def check_writable(self) -> None:
        """Tries to write, unless somebody did a moment ago; `write_problem` then gives the outcome."""

    @property
    def write_problem(self) -> str | None:
        """Why the last write failed, in a sentence; None: it worked."""

    @property
    def losses(self) -> Sequence[str]:
        """Losses of stored data, a sentence each, until somebody has acknowledged them."""

    async def damage(self) -> str | None:
        """Reads the whole store and returns what is wrong with it, in a sentence; takes a second for each 500 MB."""
