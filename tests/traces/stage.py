"""The two-round query of victim.py in this process, with a history to replay and fork it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from antiphon.bus import Bus
from antiphon.composition import wire
from antiphon.coordinator import receive
from antiphon.service import History
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import QuerySettings
from tests.traces.victim import parts_in

Trace = Sequence[Recorded[Event]]


class Stage:
    """A store with one recorded query, `q1`, and a service's parts around it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = SqliteTraceStore.open(folder)
        self.parts = parts_in(folder)
        self.bus = Bus(self.store, self.parts.clock)
        self.history = History(self.bus, self.parts, self.store)

    async def ask(
        self,
        query_id: str = "q1",
        settings: QuerySettings | None = None,
        reasoner: str = "counted",
    ) -> Trace:
        """Asks as a service with this reasoner would; returns the whole trace."""
        session = self.bus.open(
            query_id, lambda ports: wire(self.parts, ports).subscriptions()
        )
        first = receive("How does BM25 rank?", "s1", settings or QuerySettings())
        await session.run(replace(first, versions=(("reasoner", reasoner),)))
        return await self.store.read(query_id)

    def calls(self) -> list[str]:
        """Returns the calls to the model and the tools since the last time."""
        file = self.folder / "calls"
        lines = file.read_text().splitlines() if file.exists() else []
        file.write_text("")
        return lines
