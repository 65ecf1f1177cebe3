"""The health of what a service needs: what the last try of it came to, and a store that can tell of itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

REMEMBERED_S = 5.0
"""Seconds for which what the last try came to is taken as how things are."""


FORGOTTEN_S = 60.0
"""Seconds after which a problem that nobody met again is none that is known."""


class LastTry:
    """What the last try of something came to, by whoever tried."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at: float | None = None
        self._problem: str | None = None

    def note(self, problem: str | None = None) -> None:
        """Notes a try that has just ended, and why it did not work."""
        self._at = self._now()
        self._problem = problem

    @property
    def problem(self) -> str | None:
        """Why it did not work, in a sentence; None: it did, or that is long ago."""
        return self._problem if self._within(FORGOTTEN_S) else None

    @property
    def is_recent(self) -> bool:
        """True if it is so short ago that nobody need try again."""
        return self._within(REMEMBERED_S)

    def _within(self, seconds: float) -> bool:
        return self._at is not None and self._now() - self._at < seconds


@runtime_checkable
class SelfChecking(Protocol):
    """A store that can tell if it takes what it is given, and what it lost."""

    async def check_writable(self) -> None:
        """Tries to write, unless somebody did a moment ago; `write_problem` then says what came of it."""

    @property
    def write_problem(self) -> str | None:
        """Why nothing can be stored, in a sentence, by the last write; None: it can."""

    @property
    def losses(self) -> Sequence[str]:
        """What was lost of what had been stored, in sentences, until somebody has taken note of it."""

    async def damage(self) -> str | None:
        """Reads all of the store, and returns what is wrong with it in a sentence; takes a second for each 500 MB."""
