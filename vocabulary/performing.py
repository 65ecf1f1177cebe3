"""The outside of one query: everything that takes time, a server or a user's code is performed there, and only there.

Components decide, and request what they need by events. One function performs each such request, and every other way to
run a query replaces or wraps it: replaying a recording, another process, a script in a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from antiphon.vocabulary.events import Event, Recorded


class Command(NamedTuple):
    """A request to perform.

    Attributes:
        request: The event that requests it, and the cause of the events that it leads to.
        past: The events of the query so far, the request among them.
        again: True if it was under way when the query was interrupted, so it is performed a second time.
    """

    request: Recorded[Any]
    past: Sequence[Recorded[Event]]
    again: bool = False


class Run(Protocol):
    """A request under way."""

    def abandon(self, why: str, /) -> None:
        """Stops it, and publishes at once that it was abandoned; does nothing once it has its outcome."""


class Outside(Protocol):
    """Performs the requests of one query."""

    def perform(self, command: Command, /) -> Run | None:
        """Begins to perform a request, and returns at once.

        It spawns the work of sending, running or waiting, which therefore begins only once the request is stored. Every
        request gets exactly one outcome, even if it fails or is abandoned, unless the query ends first.

        Returns:
            None for a request that cannot be abandoned.
        """
