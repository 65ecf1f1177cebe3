"""The process's sessions, each with its own components."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from antiphon.bus.recorder import Recorder
from antiphon.bus.session import Components, Session
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Clock, EventLog

CANCELLING_S = 2.0
"""Seconds that a cancelled query has to deliver its end while the bus closes; it waits for one append at most."""


class Bus:
    """Opens sessions and knows those that run; each process has one bus.

    Args:
        store: Records the sessions.
        catalog: The events that may be published.
        ended: Called with the id of each session that has ended.
    """

    def __init__(
        self,
        store: EventLog,
        clock: Clock,
        catalog: Catalog = BUILT_IN,
        ended: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._ended = ended
        self._store = store
        self._clock = clock
        self._catalog = catalog
        self._sessions: dict[str, Session] = {}

    @property
    def sessions(self) -> Mapping[str, Session]:
        """The sessions that have started and not ended, by query id."""
        return MappingProxyType(self._sessions)

    def open(
        self,
        query_id: str,
        components: Components,
        prefix: Sequence[Recorded[Event]] = (),
        store: EventLog | None = None,
        clock: Clock | None = None,
    ) -> Session:
        """Returns a session with its own components; it begins with `start` or `run`.

        Args:
            prefix: The stored events of the query, from its first; the session goes on after them.
            store: Records this one session; None: the bus's store does.
            clock: Gives the time of this one session's events; None: the bus's clock does.
        """
        # With the bus's own clock: the recorder waits in real time, even if this session's events do not.
        recorder = Recorder(
            query_id,
            store or self._store,
            self._clock,
            stored_seq=len(prefix),
        )
        return Session(
            query_id,
            recorder,
            clock or self._clock,
            components,
            self._sessions,
            prefix,
            self._catalog,
            self._ended,
        )

    @property
    def under_way(self) -> int:
        """The number of queries that have not ended; the last events of one that has may not be stored yet."""
        return sum(not session.over for session in self._sessions.values())

    async def close(self) -> None:
        """Ends all sessions at once and waits until their work has stopped.

        A session that was cancelled a moment ago delivers and stores its end first; else its trace would stay open.
        """
        # A copy: each session leaves the table as it ends. All are cancelled before any is awaited.
        sessions = list(self._sessions.values())
        cancelling: list[Session] = []
        for session in sessions:
            if session.cancelling:
                cancelling.append(session)
            else:
                session.break_off()
        late = asyncio.get_running_loop().call_later(
            CANCELLING_S, _cancel_all, cancelling
        )
        for session in sessions:
            await session.stopped()
        late.cancel()


def _cancel_all(sessions: Sequence[Session]) -> None:
    for session in sessions:
        session.break_off()


class SystemClock:
    """Wall time at creation plus monotonic time since then: setting the system's clock back cannot turn it back."""

    def __init__(self) -> None:
        self._anchor = time.time() - time.monotonic()

    def now(self) -> float:
        """Returns the seconds since the epoch, never running backwards."""
        return self._anchor + time.monotonic()

    def sleep(self, seconds: float) -> Coroutine[Any, Any, None]:
        """Returns an awaitable that ends after so many seconds."""
        return asyncio.sleep(seconds)

    def call_later(
        self, seconds: float, call: Callable[[], None]
    ) -> Callable[[], object]:
        """Calls a function after so many seconds; calling the result cancels that."""
        return asyncio.get_running_loop().call_later(seconds, call).cancel
