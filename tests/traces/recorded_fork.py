"""A service that may ask nobody: the recording must hold everything that a fork needs, or the test fails."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence

import msgspec

from antiphon.bus import Bus, SystemClock
from antiphon.composition import Outcome, Resources
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.service import Change, History, Interceptor, Mode
from antiphon.traces import plain
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request
from tests.fakes import MemoryTraceStore


class CountingModel:
    """Counts its calls and answers nothing; `name` is its label."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        self.asked += 1
        return
        yield {}


class FormsStore(MemoryTraceStore):
    """A store that also knows the JSON form in which events were written; by default, today's form."""

    def __init__(self, forms: Sequence[dict[str, object]] = ()) -> None:
        super().__init__()
        self._forms = forms

    async def forms(self, query_id: str) -> Sequence[dict[str, object]]:
        if self._forms:
            return self._forms
        return [
            msgspec.json.decode(msgspec.json.encode(plain(recorded.event)))
            for recorded in await self.read(query_id)
        ]


class Forks:
    """A store with recorded queries, and a history over ports that count calls; `tool` names its live tool.

    Attributes:
        ran: The arguments of each run of the live tool.
    """

    def __init__(
        self,
        *traces: Sequence[Recorded[Event]],
        forms: Sequence[dict[str, object]] = (),
        tool: str = "look_up",
    ) -> None:
        self.store = FormsStore(forms)
        self.model = CountingModel()
        self.ran: list[str] = []

        async def look_up(words: str) -> str:
            """Looks words up."""
            self.ran.append(words)
            return "Live."

        live = dataclasses.replace(tool_from_function(look_up), name=tool)
        registry = Registry([live])
        self.parts = Resources(
            clock=SystemClock(),
            models={"primary": self.model, "fallback": self.model},
            tools=registry,
            tool_definitions=registry.definitions(),
        )
        self.history = History(
            Bus(self.store, self.parts.clock),
            self.parts,
            self.store,  # type: ignore[arg-type]  # the part of a store that forks use
        )
        self._traces = traces

    async def fork(
        self,
        at: int | None = None,
        *changes: Change,
        mode: Mode = "recorded",
        interceptor: Interceptor | None = None,
        of: str = "",
    ) -> tuple[Outcome, list[Recorded[Event]]]:
        """Forks a trace, by default the first; returns the fork's outcome and events."""
        for trace in self._traces:
            await self.store.append(trace[0].query_id, 0, trace)
        query_id = of or self._traces[0][0].query_id
        self._traces = ()
        running = await self.history.fork(query_id, at, changes, mode, interceptor)
        outcome = await running.outcome()
        return outcome, list(await self.store.read(running.query_id))

    @property
    def went_out(self) -> int:
        """The number of live calls of models and tools."""
        return self.model.asked + len(self.ran)
