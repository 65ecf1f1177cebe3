"""Ports to growing traces: their stored events and then those to come, no matter which process writes them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol

from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import TraceStore


class TraceHead(NamedTuple):
    """The end of a trace.

    Attributes:
        seq: The `seq` of its last event.
        closed: True if that event is `QueryClosed`.
        at: The time at which it was stored, in seconds since the epoch, by the store's own clock.
    """

    seq: int
    closed: bool
    at: float


class TraceEnd(Protocol):
    """The end of a trace that another process writes, and announces when it stores it."""

    async def within(self, seconds: float) -> Sequence[Recorded[Event]]:
        """Waits for the announcement, at most so many seconds; returns the last append of a finished trace, or nothing.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """


class TraceFollowing(Protocol):
    """Reads traces while other processes write them."""

    def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields the events with `seq` > `after`, stored ones first, until `QueryClosed`, and live text among them.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """

    async def head(self, query_id: str) -> TraceHead:
        """Reads the end of a trace, and nothing else of it.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """

    async def end_of(self, query_id: str) -> TraceEnd:
        """Returns the end of a trace, which need not have begun yet. Raises TraceError without the servers."""

    async def emit_live(self, query_id: str, after: int, live: Live) -> None:
        """Sends followers live text, which is not stored; they see it after the event `after`, if at all."""


class FollowedStore(TraceStore, TraceFollowing, Protocol):
    """A store whose traces are followed while other processes write them."""
