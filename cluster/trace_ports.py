"""Traces as they grow: what is stored already and then what comes, whichever process writes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import TraceStore


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


class TraceEnd(Protocol):
    """The end of a trace that another process writes; whoever stores it tells of it."""

    async def within(self, seconds: float) -> Sequence[Recorded[Event]]:
        """Waits until it learns of one, or for so long; returns the last append of a trace that is over, else nothing.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """


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

    async def end_of(self, query_id: str) -> TraceEnd:
        """Returns the end of a trace, which may be begun only after this. Raises TraceError without the servers."""

    async def emit_live(self, query_id: str, after: int, live: Live) -> None:
        """Sends followers what is not stored; they see it after the event `after`, and may never see it."""


class FollowedStore(TraceStore, TraceFollowing, Protocol):
    """A store whose traces are followed while other processes write them."""
