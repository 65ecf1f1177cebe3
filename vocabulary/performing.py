"""The outside of one query: whatever takes time, a server or a user's code is performed there, and nowhere else.

Components decide, and request what they need by events. Each such request is performed by one function, which every
other way to run a query replaces or wraps: a recording that is played, another process, a script in a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from antiphon.vocabulary.events import Event, Recorded


class Command(NamedTuple):
    """A request to perform.

    Attributes:
        request: The event that requests it; what it leads to has this event as its cause.
        past: The events of the query so far, the request among them.
        again: It was under way when the query was interrupted, and is performed once more.
    """

    request: Recorded[Any]
    past: Sequence[Recorded[Event]]
    again: bool = False


class Run(Protocol):
    """A request that is being performed."""

    def abandon(self, why: str, /) -> None:
        """Stops it, and publishes at once that it was abandoned; does nothing if it has its outcome."""


class Outside(Protocol):
    """Performs the requests of one query."""

    def perform(self, command: Command, /) -> Run | None:
        """Begins to perform a request, and returns at once.

        What is sent, run or waited for is spawned, so that it begins only when the request is stored. Every request
        gets exactly one outcome, also if it fails or is abandoned, unless the query ends first.

        Returns:
            None for what nobody can abandon.
        """
