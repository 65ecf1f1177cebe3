"""Traces as they grow: what is stored already and then what comes, whichever process writes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from antiphon.vocabulary.events import Event, Live, Recorded


class TraceHead(NamedTuple):
    """The end of a trace.

    Attributes:
        seq: That of its last event.
        closed: True if that is its `QueryClosed`.
        at: When it was stored, in seconds since the epoch, by the store's own clock.
    """

    seq: int
    closed: bool
    at: float


class TraceFollowing(Protocol):
    """Traces that other processes write, read while they are written."""

    def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields the events with `seq` > `after`, stored ones first, until `QueryClosed`, and live text among them.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """

    async def head(self, query_id: str) -> TraceHead:
        """Reads where a trace ends, and nothing else of it.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """

    async def ending(self, query_id: str) -> Sequence[Recorded[Event]]:
        """Reads the last append to a trace that is over, whose last event is `QueryClosed`; nothing of one that is not.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """

    async def emit_live(self, query_id: str, after: int, live: Live) -> None:
        """Sends followers what is not stored; they see it after the event `after`, and may never see it."""
