"""The live followers of a session: each has a bounded buffer, and one that reads too slowly is cut off."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable, Sequence
from weakref import WeakSet

from antiphon.vocabulary.errors import NotFoundError, QuotaError, SlowReaderError
from antiphon.vocabulary.events import Event, Live, Recorded

MOST_FOLLOWERS = 50
"""Followers of one query at once: each gets every event, and may hold a buffer of them."""
RETRY_S = 5.0

FollowerItem = Recorded[Event] | Live
"""An item that a follower reads: a recorded event, or live text that is not recorded."""


class Follower:
    """Reads one session, by `async for`, to its end; `Session.follow` makes it, and one task reads it.

    A reader who leaves early should call `close`; otherwise the buffer fills and cuts it off, which harms nobody.
    """

    def __init__(self, history: Iterable[Recorded[Event]], buffer: int) -> None:
        self._history = deque(history)
        self._new: deque[FollowerItem] = deque()
        self._buffer = buffer
        self._readable = asyncio.Event()
        self._ended = False
        self._cut_off = False

    @property
    def open(self) -> bool:
        """False once the follower was closed or cut off."""
        return not (self._ended or self._cut_off)

    def close(self) -> None:
        """Ends the reading; the buffered items can still be read."""
        self._ended = True
        self._readable.set()

    def push(self, item: FollowerItem) -> None:
        """Buffers one more item, or cuts the reader off if the buffer is full."""
        if len(self._new) >= self._buffer:
            self._cut_off = True
            # A reader that is cut off must read the trace in any case; half of the events would only take memory.
            self._history.clear()
            self._new.clear()
        else:
            self._new.append(item)
        self._readable.set()

    def __aiter__(self) -> Follower:
        return self

    async def __anext__(self) -> FollowerItem:
        """Returns the next event or delta.

        Raises:
            SlowReaderError: The buffer was full; the trace holds what came after the last event returned.
        """
        while not (self._history or self._new):
            if self._cut_off:
                raise SlowReaderError(
                    f"this reader fell {self._buffer} events behind and was cut off; "
                    "read the trace from the last event that was seen"
                )
            if self._ended:
                raise StopAsyncIteration
            self._readable.clear()
            await self._readable.wait()
        if self._history:
            return self._history.popleft()
        return self._new.popleft()


class Followers:
    """All followers of one session, and the events that a new one must catch up on."""

    def __init__(self, query_id: str, past: Iterable[Recorded[Event]] = ()) -> None:
        self._query_id = query_id
        self._past: list[Recorded[Event]] = list(past)
        # Weak, so that a follower whose caller went away without `close` is gone at once, and its buffer with it.
        self._followers: WeakSet[Follower] | None = None
        self._ended = False
        # A future made when somebody first waits: an `asyncio.Event` would take 0.8 KiB in every query.
        self._end: asyncio.Future[None] | None = None

    def __bool__(self) -> bool:
        return self.present()

    def present(self) -> bool:
        """Returns True if anybody follows."""
        return bool(self._followers)

    def follow(self, after: int, buffer: int) -> Follower:
        """Returns a new follower, which first gets the events emitted so far with `seq` > `after`.

        Raises:
            NotFoundError: The session has ended, so its events are in the trace store only.
            QuotaError: The session has as many followers as it may.
        """
        if self._ended:
            raise NotFoundError(
                f"query {self._query_id} has ended and cannot be followed; read its trace instead"
            )
        # Made for the first follower: most queries have none, and an empty set takes 1.6 KiB.
        if self._followers is None:
            self._followers = WeakSet()
        if len(self._followers) >= MOST_FOLLOWERS:
            raise QuotaError(
                f"query {self._query_id} is followed by {MOST_FOLLOWERS} readers, and no more may: "
                "read its trace, or try again in a moment",
                RETRY_S,
            )
        follower = Follower(self._past[after:], buffer)
        self._followers.add(follower)
        return follower

    def push(self, item: FollowerItem) -> None:
        """Hands an item to all followers; waits for none."""
        if isinstance(item, Recorded):
            self._past.append(item)
        # Most sessions have no follower, and live text comes by the thousand.
        if not self._followers:
            return
        for follower in list(self._followers):
            if follower.open:
                follower.push(item)
            else:
                self._followers.discard(follower)

    @property
    def ended(self) -> bool:
        """True if nothing more comes."""
        return self._ended

    async def wait_for_end(self) -> None:
        """Returns when nothing more comes."""
        if self._ended:
            return
        if self._end is None:
            self._end = asyncio.get_running_loop().create_future()
        # Several may wait for the one future: `wait` does not cancel it for the others if one of them is cancelled.
        await asyncio.wait([self._end])

    def end(self) -> None:
        """Lets each follower read its buffer, then stop."""
        self._ended = True
        if self._end is not None and not self._end.done():
            self._end.set_result(None)
        if self._followers is not None:
            for follower in self._followers:
                follower.close()
            self._followers = None

    @property
    def past(self) -> Sequence[Recorded[Event]]:
        """The events emitted so far; kept as long as somebody holds the session."""
        return self._past
