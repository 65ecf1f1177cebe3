"""Handles what is heard of queries some hundred at a time, in the order in which it was heard.

Between two steps of a query other code drives this one out of the processor's caches: the same work costs half as much
where it is done many times in a row (docs/decisions/235-telemetry-in-batches.md).
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from antiphon.vocabulary.events import Event, Live, Recorded, TextDelta
from antiphon.vocabulary.ports import Clock, Subscription
from antiphon.vocabulary.subscribers import Subscriber, Surroundings

MOST = 1024
"""What may wait: some thirty queries, which are handled in about 3 ms."""
PAUSE_S = 0.1
"""Seconds after which what waits is handled, also where it is little."""


class Batch:
    """What was heard and is not handled yet; for all queries of a service."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._is_due = False
        # The end of the service handles the last ones in a thread.
        self._handling = threading.Lock()

    def add(self, handle: Callable[[Any], None], heard: object) -> None:
        """Notes what `handle` will be called with."""
        self._waiting.append((handle, heard))
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(PAUSE_S, self.flush)
        elif len(self._waiting) == MOST:
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Handles all that waits; after an error, which is a bug, the rest waits for what is heard next."""
        with self._handling:
            self._is_due = False
            while self._waiting:
                handle, heard = self._waiting.popleft()
                handle(heard)


class Onlooker(Protocol):
    """What is made of one query: its metrics, or its spans."""

    @property
    def kinds(self) -> Iterable[type[Event]]:
        """The events that it takes in."""

    def handle(self, recorded: Recorded[Event]) -> None:
        """Takes in an event, or leaves it."""

    def handle_again(self, recorded: Recorded[Event]) -> None:
        """Takes in what is done once more in a resumed query: its time is now, and not when it was first asked for."""

    def handle_text(self, call_id: str, at: float) -> None:
        """Takes in when the first text of a call came."""


class Source(Protocol):
    """Makes something of queries: `Metrics`, or `SpanExport`."""

    def onlooker(self) -> Onlooker | None:
        """Returns what is made of a new query; None: nothing."""


def observer(batch: Batch, *sources: Source) -> Subscriber:
    """Returns the component that hears queries for all that is made of them."""

    def act(surroundings: Surroundings) -> Sequence[Subscription]:
        onlookers: list[Onlooker] = []
        for source in sources:
            found = source.onlooker()
            if found is not None:
                onlookers.append(found)
        if not onlookers:
            return ()
        listener = Listener(onlookers, batch, surroundings.clock)
        surroundings.hear_live(listener.hear_live)
        return listener.subscriptions()

    return Subscriber(name="telemetry", act=act)


class Listener:
    """Hears one query once for all that is made of it, and leaves what it hears to the batch."""

    def __init__(
        self, onlookers: Sequence[Onlooker], batch: Batch, clock: Clock
    ) -> None:
        self._onlookers = onlookers
        self._batch = batch
        self._clock = clock
        self._spoke: set[str] = set()

    def subscriptions(self) -> Sequence[Subscription]:
        """Returns what it hears."""
        kinds: dict[type[Event], None] = {}
        for onlooker in self._onlookers:
            kinds |= dict.fromkeys(onlooker.kinds)
        hear, hear_again = self.hear, self.hear_again
        return [Subscription(kind, hear, _NAME, hear_again) for kind in kinds]

    def hear(self, recorded: Recorded[Event]) -> None:
        self._batch.add(self._handle, recorded)

    def hear_again(self, recorded: Recorded[Event]) -> None:
        self._batch.add(self._handle_again, replace(recorded, at=self._clock.now()))

    def hear_live(self, live: Live) -> None:
        # Once a call, although every piece of its text passes here.
        if isinstance(live, TextDelta) and live.call_id not in self._spoke:
            self._spoke.add(live.call_id)
            self._batch.add(self._handle_text, (live.call_id, self._clock.now()))

    def _handle(self, recorded: Recorded[Event]) -> None:
        for onlooker in self._onlookers:
            onlooker.handle(recorded)

    def _handle_again(self, recorded: Recorded[Event]) -> None:
        for onlooker in self._onlookers:
            onlooker.handle_again(recorded)

    def _handle_text(self, heard: tuple[str, float]) -> None:
        for onlooker in self._onlookers:
            onlooker.handle_text(*heard)


_NAME = f"{Listener.__name__}.{Listener.hear.__name__}"
