"""The process's sessions, each with components of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from antiphon.bus.ports import Components
from antiphon.bus.recorder import Recorder
from antiphon.bus.session import Session
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Clock, TraceStore


class Bus:
    """Opens sessions and knows those that run; one a process."""

    def __init__(self, store: TraceStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
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
        store: TraceStore | None = None,
    ) -> Session:
        """A session with components of its own; it begins with `start` or `run`.

        Args:
            prefix: What is stored of the query already, from its first event; the session goes on after it.
            store: Where this one session is recorded; None is the bus's own.
        """
        recorder = Recorder(query_id, store or self._store, self._clock, stored_seq=len(prefix))
        return Session(query_id, recorder, self._clock, components, self._sessions, prefix)

    async def close(self) -> None:
        """Ends all sessions where they stand and waits until their work has stopped."""
        sessions = list(self._sessions.values())
        for session in sessions:
            session.cancel()
        await asyncio.gather(*(session.stopped() for session in sessions))
