"""A stage for sessions: components written in the test, the story's events, a store in memory."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from antiphon.bus import Bus, Session
from antiphon.vocabulary.events import (
    Event,
    HandlerFailed,
    QueryClosed,
    Recorded,
    RecordingFailed,
    SessionStalled,
)
from antiphon.vocabulary.ports import Clock, Ports, Subscription, on
from tests.fakes import HastyClock, MemoryTraceStore

CLOSED = QueryClosed(status="answered")


class Stage:
    """A bus with one session whose components are `cast`."""

    def __init__(
        self,
        cast: Callable[[Ports], Sequence[Subscription]],
        store: MemoryTraceStore | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.store = store or MemoryTraceStore()
        self.bus = Bus(self.store, clock or HastyClock())
        self.session: Session = self.bus.open("q1", cast)

    async def play(self, first: Any) -> list[Event]:
        """Runs the session to its end; what was recorded."""
        await self.session.run(first)
        return self.store.events("q1")

    def kinds(self) -> list[str]:
        """The names of what was recorded."""
        return [type(event).__name__ for event in self.store.events("q1")]


def ignore(recorded: Recorded[Any]) -> None:
    """Hears, and does nothing."""


def starter(
    ports: Ports, work: Callable[[], Coroutine[Any, Any, None]]
) -> Callable[[Recorded[Any]], None]:
    """A handler that starts work."""

    def start(recorded: Recorded[Any]) -> None:
        ports.spawn(work())

    return start


def closer(ports: Ports) -> Callable[[Recorded[Any]], None]:
    """A handler that ends the query."""

    def close(recorded: Recorded[Any]) -> None:
        ports.publish(CLOSED)

    return close


def audience(ports: Ports) -> list[Subscription]:
    """Hears what the session itself says."""
    return [
        on(HandlerFailed, ignore),
        on(SessionStalled, closer(ports)),
        on(RecordingFailed, ignore),
    ]
